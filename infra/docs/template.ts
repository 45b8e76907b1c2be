import { posix } from 'node:path'

export type Nav = { heading: string; pages: { title: string; path: string }[] }[]

type Page = {
  path: string
  target: string
  title: string
  html: string
  nav: Nav
  targetOf: (path: string) => string
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

export function template({ path, target, title, html, nav, targetOf }: Page): string {
  const from = posix.dirname(target)
  const to = (path: string) => posix.relative(from, targetOf(path))
  const markdown = posix.basename(target).replace(/\.html$/, '.md')
  const top = '../'.repeat(target.split('/').length - 1)
  const entry = (page: { title: string; path: string }) =>
    `<li><a href="${to(page.path)}"${page.path === path ? ' aria-current="page"' : ''}>${escaped(page.title)}</a></li>`
  const list = nav.map(({ heading, pages }) => `<h2>${escaped(heading)}</h2><ul>${pages.map(entry).join('')}</ul>`)
  const order = nav.flatMap(({ pages }) => pages)
  const here = order.findIndex((page) => page.path === path)
  const [before, after] = here < 0 ? [undefined, order[0]] : [order[here - 1], order[here + 1]]
  const step = (page: { title: string; path: string } | undefined, rel: string) =>
    page
      ? `<a rel="${rel}" href="${to(page.path)}">${rel === 'prev' ? '← ' : ''}${escaped(page.title)}${rel === 'next' ? ' →' : ''}</a>`
      : '<span></span>'
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · sidejob</title>
<link rel="stylesheet" href="${top}style.css">
<link rel="alternate" type="text/markdown" href="${markdown}">
</head>
<body data-top="${top}">
<nav aria-label="Pages">
<a class="home" href="${top}index.html">sidejob</a>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search the manual" autocomplete="off">
<ol id="results" hidden></ol>
<details open><summary>All pages</summary>${list.join('\n')}</details>
</nav>
<main>
${html}
<footer>${step(before, 'prev')}<a href="${markdown}">Markdown</a>${step(after, 'next')}</footer>
</main>
<script src="${top}search-index.js" defer></script>
<script src="${top}search.js" defer></script>
</body>
</html>
`
}
