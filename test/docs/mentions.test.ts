import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pagesIn } from '../../infra/docs/pages.ts'
import { commands, common } from '../../src/cli/main.ts'
import { facades } from '../../src/facades/index.ts'
import { list } from '../../src/http/routes.ts'

const root = join(import.meta.dirname, '../..')
const pages = ['README.md', ...pagesIn(join(root, 'docs')).map((page) => `docs/${page}`)].map((page) => ({
  page,
  text: readFileSync(join(root, page), 'utf8'),
}))
/** Excludes the compatibility tables, because they also name routes of other systems. */
const ours = pages.filter(({ page }) => !page.startsWith('docs/compat/'))

const routes = [...list, ...facades.flatMap(({ routes }) => Object.values(routes))].map(({ method, path }) => ({
  method,
  segments: path.split('/'),
}))

function isServed(method: string, path: string): boolean {
  const given = path
    .replace(/\?.*$/, '')
    .replace(/^\/t\/[^/]+/, '')
    .split('/')
  return routes.some(
    (route) =>
      route.method === method &&
      (route.segments.length === given.length || route.segments.at(-1) === ':channel') &&
      route.segments.every((segment, i) => segment.startsWith(':') || segment === given[i]),
  )
}

const typed = (text: string): string[] => [
  ...[...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, language, block]) =>
    ['', 'sh', 'bash'].includes(language!) ? block!.split('\n') : [],
  ),
  ...[...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(([, code]) => code!.replaceAll('\n', ' ')),
]

test('every route that a page names is served', () => {
  const named = ours.flatMap(({ page, text }) =>
    [
      ...typed(text)
        .join('\n')
        .matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[\w/:.<>{},?=&%-]*)/g),
    ].map(([, method, path]) => ({
      page,
      method: method!,
      path: path!.replace(/[.,:]$/, ''),
    })),
  )
  expect(named.length).toBeGreaterThan(150)
  const others = [/^\/hooks\//, /^\/bedrock\//, /^\/jq\//, /\{in,out\}/]
  const unknown = named.filter(({ method, path }) => !others.some((one) => one.test(path)) && !isServed(method, path))
  expect(unknown.map(({ page, method, path }) => `${page}: ${method} ${path}`)).toEqual([])
})

function faultOf(line: string): string | undefined {
  const [, rest] = /^(?:npx |source <\(npx |\$ )?sidejob ((?!<command>|-)[a-z].*)$/.exec(line.trim()) ?? []
  if (rest === undefined) return undefined
  const words = rest
    .replace(/\s+#.*$/, '')
    .replace(/\s{2,}.*$/, '')
    .split(/[\s)]+/)
  const name = [words.slice(0, 2).join(' '), words[0]!, `${words[0]} ls`].find((one) => one in commands)
  if (!name) return `there is no command ${words.slice(0, 2).join(' ')}`
  const options = { ...common, ...commands[name]!.options }
  const flags = words.flatMap((word) => (/^--[a-z-]+$/.test(word) ? [word.slice(2).replace(/^no-/, '')] : []))
  const unknown = flags.filter((flag) => !(flag in options))
  return unknown.length ? `${name} has no --${unknown.join(', --')}` : undefined
}

test('every command that a page shows exists, with its options', () => {
  const lines = ours.flatMap(({ page, text }) => typed(text).map((line) => ({ page, line })))
  expect(lines.filter(({ line }) => /^(npx )?sidejob /.test(line.trim())).length).toBeGreaterThan(50)
  const faults = lines.flatMap(({ page, line }) => {
    const fault = faultOf(line)
    return fault ? [`${page}: ${line.trim()}: ${fault}`] : []
  })
  expect(faults).toEqual([])
})

test('every file of the repository that a page names exists', () => {
  const named = pages.flatMap(({ page, text }) =>
    [...text.matchAll(/`((?:src|test|infra|examples|functions|templates)\/[\w./-]+)`/g)].map(([, file]) => ({
      page,
      file: file!,
    })),
  )
  expect(named.length).toBeGreaterThan(50)
  const gone = named.filter(({ file }) => !file.startsWith('src/jobs') && !existsSync(join(root, file)))
  expect(gone.map(({ page, file }) => `${page}: ${file}`)).toEqual([])
})
