import { relative, resolve } from 'node:path'
import type { SourceTable } from '../core/source-table.ts'
import { createClient } from '../redis/client.ts'
import { createStore } from '../redis/store.ts'

const MAX_TABLE_LENGTH = 900_000

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Decodes base64 VLQ: each digit has five bits, and the lowest bit of a number is its sign. */
function numbersIn(segment: string): number[] {
  const numbers: number[] = []
  let [value, shift] = [0, 0]
  for (const digit of segment) {
    const bits = DIGITS.indexOf(digit)
    value += (bits & 31) << shift
    shift += 5
    if (bits & 32) continue
    numbers.push(value & 1 ? -(value >> 1) : value >> 1)
    ;[value, shift] = [0, 0]
  }
  return numbers
}

type RawMap = { sources: (string | null)[]; sourcesContent?: (string | null)[]; mappings: string; sourceRoot?: string }

type TableOptions = {
  dir: string
  root: string
  bundle: string
  isOwn?: (name: string) => boolean
}

export const isProjects = (name: string): boolean => !name.startsWith('..') && !name.includes('node_modules')

export function tableOf(map: string, { dir, root, bundle, isOwn = isProjects }: TableOptions): SourceTable {
  const { sources, sourcesContent = [], mappings, sourceRoot = '' } = JSON.parse(map) as RawMap
  const names = sources.map((source) => relative(root, resolve(dir, sourceRoot, source ?? '')).replaceAll('\\', '/'))
  const index = new Map<number, number>()
  const files: SourceTable['files'] = []
  const places: SourceTable['places'] = []
  let [source, ownLine, ownColumn] = [0, 0, 0]
  for (const [line, text] of mappings.split(';').entries()) {
    let column = 0
    for (const segment of text.split(',')) {
      const [byColumn, bySource, byLine, byOwnColumn] = numbersIn(segment)
      column += byColumn ?? 0
      if (bySource === undefined) continue
      source += bySource
      ownLine += byLine!
      ownColumn += byOwnColumn!
      const last = places.at(-1)
      if (!isOwn(names[source]!)) {
        // Library code begins here, so the range of the user's file ends.
        if (last?.[0] === line && last[2] >= 0) places.push([line, column, -1, 0, 0])
        continue
      }
      let file = index.get(source)
      if (file === undefined) {
        file = files.push({ name: names[source]!, lines: (sourcesContent[source] ?? '').split('\n') }) - 1
        index.set(source, file)
      }
      if (last?.[0] === line && last[2] === file && last[3] === ownLine) continue
      places.push([line, column, file, ownLine, ownColumn])
    }
  }
  return { bundle, files, places }
}

export function tableText(table: SourceTable): string | undefined {
  const whole = JSON.stringify(table)
  if (whole.length <= MAX_TABLE_LENGTH) return whole
  const bare = JSON.stringify({ ...table, files: table.files.map(({ name }) => ({ name, lines: [] })) })
  return bare.length <= MAX_TABLE_LENGTH ? bare : undefined
}

type Vars = Record<string, string | undefined>

export async function keepTable(vars: Vars, build: string, table: SourceTable): Promise<void> {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, SIDEJOB_NAMESPACE: namespace } = vars
  const text = tableText(table)
  if (!url || !token || text === undefined) return
  const client = createClient({ url, token })
  const store = createStore({ client, ...(namespace ? { namespace } : {}) })
  await store.keepSources(build, text)
}

/** The time comes first, so that names sort by age. */
export const buildName = (now = Date.now()): string =>
  `${now.toString(36)}-${Math.floor(Math.random() * 2 ** 32).toString(36)}`
