import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { build } from 'esbuild'
import { Marked } from 'marked'
import { pagesIn, slugger } from './pages.ts'
import { createIndex, type Section } from './search.ts'
import { type Nav, template } from './template.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

export function targetOf(path: string): string {
  const name = path.startsWith('docs/') ? path.slice('docs/'.length) : `repository/${path}`
  return name === 'README.md' ? 'index.html' : name.replace(/\.md$/, '.html')
}

type Page = { path: string; title: string; text: string; html: string; links: string[]; sections: Section[] }

const plain = (html: string): string =>
  html
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/<\/?(?:code|a|strong|em)\b[^>]*>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&lt;/g, '<')
    .replace(/&gt;/g, '>')
    .replace(/&quot;/g, '"')
    .replace(/&#39;/g, "'")
    .replace(/&amp;/g, '&')
    .replace(/\s+/g, ' ')
    .trim()

const isElsewhere = (href: string): boolean => /^([a-z]+:|#)/.test(href)

function siteLink(from: string, href: string): { href: string; path?: string } {
  if (isElsewhere(href)) return { href }
  const [file = '', heading] = href.split('#')
  const path = posix.normalize(posix.join(posix.dirname(from), file))
  const to = posix.relative(posix.dirname(targetOf(from)), targetOf(path))
  return { href: heading === undefined ? to : `${to}#${heading}`, path }
}

function draw(path: string): Page {
  const links: string[] = []
  const anchor = slugger()
  const resolved = (href: string): string => {
    const link = siteLink(path, href)
    if (link.path?.endsWith('.md')) links.push(link.path)
    return link.href
  }
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        const id = anchor(text)
        return `<h${depth} id="${id}">${this.parser.parseInline(tokens)} <a class="anchor" href="#${id}" aria-label="Link to this section">#</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        return `<a href="${resolved(href)}">${this.parser.parseInline(tokens)}</a>`
      },
      image: ({ href, text }) => `<img src="${resolved(href)}" alt="${text}" loading="lazy">`,
    },
  })
  const text = read(path)
  const html = (marked.parse(text) as string)
    .replaceAll('<table>', '<div class="table"><table>')
    .replaceAll('</table>', '</table></div>')
  const title = plain(/<h1[^>]*>([\s\S]*?)<a class="anchor"/.exec(html)?.[1] ?? path)
  return { path, title, text, html, links, sections: sectionsOf(path, title, html) }
}

const keywordsOf = (html: string): string => /<!-- keywords: ([\s\S]*?)\s-->/.exec(html)?.[1] ?? ''

function sectionsOf(path: string, title: string, html: string): Section[] {
  const parts = html.split(/(?=<h[1-3] id=")/).filter((part) => part.startsWith('<h'))
  return parts.map((part) => {
    const [, anchor, heading] = /^<h\d id="([^"]*)">([\s\S]*?)<a class="anchor"/.exec(part)!
    const name = plain(heading!)
    return {
      id: `${targetOf(path)}#${anchor}`,
      title: name === title ? title : `${title}: ${name}`,
      page: title,
      keywords: keywordsOf(part),
      text: plain(part.replace(/^<h\d[\s\S]*?<\/h\d>/, '')),
    }
  })
}

function navOf(index: string): Nav {
  return [...index.matchAll(/^\*\*(.+?)\*\*([\s\S]*?)(?=\n\n|$(?![\s\S]))/gm)].map(([, heading, links]) => ({
    heading: heading!,
    pages: [...links!.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, title, to]) => ({
      title: title!.replaceAll('`', ''),
      path: posix.normalize(posix.join('docs', to!)),
    })),
  }))
}

function pagesFrom(start: string[]): Page[] {
  const found = new Map<string, Page>()
  const waiting = [...start]
  for (let path = waiting.shift(); path; path = waiting.shift()) {
    if (found.has(path)) continue
    const page = draw(path)
    found.set(path, page)
    if (path.startsWith('docs/')) waiting.push(...page.links)
  }
  return [...found.values()]
}

const cut = (html: string, isThere: (href: string) => boolean): string =>
  html.replace(/<a href="(?![a-z]+:|#)([^"]+)">([\s\S]*?)<\/a>/g, (whole, href, text) => (isThere(href) ? whole : text))

const markdownOf = (path: string): string => targetOf(path).replace(/\.html$/, '.md')

function markdown({ path, text }: Page, isThere: (target: string) => boolean): string {
  const linked = (part: string) =>
    part.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, image, label, href) => {
      if (isElsewhere(href)) return whole
      const { href: to, path: page } = siteLink(path, href)
      if (!page?.endsWith('.md')) return image || !to.startsWith('..') ? whole : label
      return isThere(targetOf(page)) ? `[${label}](${to.replace(/\.html(#|$)/, '.md$1')})` : label
    })
  return text
    .split(/(^```[\s\S]*?^```$)/m)
    .map((part) => (part.startsWith('```') ? part : linked(part)))
    .join('')
    .replace(/<!-- [\s\S]*? -->\n/g, '')
}

const summaryOf = ({ html }: Page): string => {
  const [, first = ''] = /<p>([\s\S]*?)<\/p>/.exec(html) ?? []
  return /^.*?[.:](?=\s|$)/.exec(plain(first))?.[0] ?? plain(first)
}

function llms(nav: Nav, pages: readonly Page[]): string {
  const pageAt = new Map(pages.map((page) => [page.path, page]))
  const line = (path: string) => {
    const page = pageAt.get(path)!
    return `- [${page.title}](${markdownOf(path)}): ${summaryOf(page)}`
  }
  const parts = nav.map(({ heading, pages }) => [`## ${heading}`, '', ...pages.map(({ path }) => line(path)), ''])
  const about = '> Durable jobs on Cloudflare Workers, Upstash Redis and QStash. Every page of this manual as Markdown.'
  return ['# sidejob', '', about, '', ...parts.flat()].join('\n')
}

export async function buildSite(folder: string): Promise<string[]> {
  const pages = pagesFrom(pagesIn(join(root, 'docs')).map((page) => `docs/${page}`))
  const there = new Set(pages.map(({ path }) => targetOf(path)))
  const nav = navOf(read('docs/README.md'))
  rmSync(folder, { recursive: true, force: true })
  for (const page of pages) {
    const { path, title, html } = page
    const target = targetOf(path)
    const isThere = (href: string) =>
      there.has(posix.normalize(posix.join(posix.dirname(target), href.split('#')[0]!))) || !href.includes('.html')
    mkdirSync(dirname(join(folder, target)), { recursive: true })
    writeFileSync(join(folder, target), template({ path, target, title, html: cut(html, isThere), nav, targetOf }))
  }
  for (const page of pages)
    writeFileSync(
      join(folder, markdownOf(page.path)),
      markdown(page, (target) => there.has(target)),
    )
  writeFileSync(join(folder, 'llms.txt'), llms(nav, pages))
  cpSync(join(root, 'docs/pictures'), join(folder, 'pictures'), { recursive: true })
  cpSync(join(import.meta.dirname, 'style.css'), join(folder, 'style.css'))
  const index = createIndex(pages.flatMap(({ sections }) => sections))
  // A page that was opened from disk cannot use fetch, so the index is a script.
  writeFileSync(join(folder, 'search-index.js'), `window.searchIndex=${JSON.stringify(JSON.stringify(index))}`)
  await build({
    entryPoints: [join(import.meta.dirname, 'browser.ts')],
    outfile: join(folder, 'search.js'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    logLevel: 'error',
  })
  return [...there]
}
