// Prints random sentences for a reader to judge.
// node infra/prose/sample.ts 4711 10    10 of each area, with this seed

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { facades } from '../../src/facades/index.ts'
import { openapi } from '../../src/http/openapi.ts'
import { list, listed } from '../../src/http/routes.ts'
import { type Sentence, sentencesIn } from './prose.ts'

/** `code`: the line of code below a comment. */
type Sample = { at: string; sentence: string; code?: string }

const [seed = Date.now() % 100_000, size = 60] = process.argv.slice(2).map(Number)

const filesIn = (...paths: string[]): string[] =>
  execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.(ts|tsx|lua|go|md)$/.test(path))

function read(paths: string[], isWanted: (sentence: Sentence, lines: readonly string[]) => boolean): Sample[] {
  return filesIn(...paths).flatMap((path) => {
    const text = readFileSync(path, 'utf8')
    const lines = text.split('\n')
    return sentencesIn(path, text)
      .filter((sentence) => isWanted(sentence, lines))
      .map(({ line, sentence }) => ({ at: `${path}:${line}`, sentence }))
  })
}

const COMMENT = /^\s*(--|\/\/|\/?\*)/

const withCode = (samples: Sample[]): Sample[] =>
  samples.map((sample) => {
    const [path, line] = sample.at.split(':') as [string, string]
    const below = readFileSync(path, 'utf8').split('\n').slice(Number(line))
    return { ...sample, code: below.find((text) => text.trim() !== '' && !COMMENT.test(text))?.trim() ?? '' }
  })

const isError = ({ kind, line, sentence }: Sentence, lines: readonly string[]): boolean =>
  kind === 'string' &&
  (/\bexpected\b/.test(sentence) ||
    /(Error|Refusal|Failure|Terminal|refuse)\(/.test(lines.slice(Math.max(0, line - 3), line).join('\n')))

function descriptions(): Sample[] {
  const document = openapi([...list, ...facades.flatMap(({ name, routes }) => listed(name, routes))], '')
  const found = new Map<string, string>()
  JSON.stringify(document, (key, value) => {
    if ((key === 'description' || key === 'summary') && typeof value === 'string') found.set(value, key)
    return value
  })
  return [...found].map(([sentence, at]) => ({ at, sentence }))
}

/** The algorithm is mulberry32. */
function randomFrom(start: number): () => number {
  let state = start
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const areas: Record<string, () => Sample[]> = {
  comments: () => withCode(read(['src', 'functions', 'infra', 'test'], ({ kind }) => kind === 'comment')),
  errors: () => read(['src', 'functions'], isError),
  OpenAPI: descriptions,
  dashboard: () => read(['src/dashboard'], ({ kind }) => kind === 'string'),
  docs: () => read(['docs', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'], ({ kind }) => kind === 'text'),
}

console.log(`seed ${seed}`)
for (const [area, sentences] of Object.entries(areas)) {
  const all = sentences()
  const random = randomFrom(seed)
  console.log(`\n## ${area}: ${size} of ${all.length}\n`)
  for (let n = 0; n < size && all.length > 0; n++) {
    const [one] = all.splice(Math.floor(random() * all.length), 1)
    console.log(`- ${one!.sentence} (${one!.at})${one!.code ? `\n      ${one!.code}` : ''}`)
  }
}
