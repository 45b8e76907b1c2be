// Prints random sentences and texts of each area, for a reader to judge.
// node infra/prose/sample.ts 4711 10    10 of each area, with this seed

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { facades } from '../../src/facades/index.ts'
import { openapi } from '../../src/http/openapi.ts'
import { list, listed } from '../../src/http/routes.ts'
import { type Kind, sentencesIn } from './prose.ts'
import { type Text, textsIn } from './texts.ts'

/** `code`: the line of code below a comment. */
type Sample = { at: string; sentence: string; code?: string }

const [seed = Date.now() % 100_000, size = 60] = process.argv.slice(2).map(Number)

const filesIn = (...paths: string[]): string[] =>
  execFileSync('git', ['ls-files', '--', ...paths], { encoding: 'utf8' })
    .split('\n')
    .filter((path) => /\.(ts|tsx|lua|go|md)$/.test(path))

const read = (paths: string[], wanted: Kind): Sample[] =>
  filesIn(...paths).flatMap((path) =>
    sentencesIn(path, readFileSync(path, 'utf8'))
      .filter(({ kind }) => kind === wanted)
      .map(({ line, sentence }) => ({ at: `${path}:${line}`, sentence })),
  )

const COMMENT = /^\s*(--|\/\/|\/?\*)/

const withCode = (samples: Sample[]): Sample[] =>
  samples.map((sample) => {
    const [path, line] = sample.at.split(':') as [string, string]
    const below = readFileSync(path, 'utf8').split('\n').slice(Number(line))
    return { ...sample, code: below.find((text) => text.trim() !== '' && !COMMENT.test(text))?.trim() ?? '' }
  })

const samplesOf = (paths: string[], isWanted: (text: Text) => boolean): Sample[] =>
  filesIn(...paths)
    .filter((path) => /\.(tsx?|lua)$/.test(path))
    .flatMap((path) =>
      textsIn(path, readFileSync(path, 'utf8'))
        .filter(isWanted)
        .map(({ line, text }) => ({ at: `${path}:${line}`, sentence: text })),
    )

const isError = ({ text, calls }: Text): boolean =>
  /\bexpected\b/.test(text) || calls.some((name) => /(Error|Refusal|Refused|Failure|Terminal)$|^refuse$/.test(name))

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
  comments: () => withCode(read(['src', 'functions', 'infra', 'test'], 'comment')),
  errors: () => samplesOf(['src', 'functions'], isError),
  OpenAPI: descriptions,
  dashboard: () => samplesOf(['src/dashboard'], () => true),
  docs: () => read(['docs', 'README.md', 'CONTRIBUTING.md', 'SECURITY.md'], 'text'),
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
