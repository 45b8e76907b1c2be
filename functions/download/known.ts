import { createHash } from 'node:crypto'
import { type Files, keyOf } from '../../src/index.ts'
import type { Args, Downloaded, Resources } from './args.ts'

const hex = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Other headers may identify the caller, so a download with such a header is not shared with other callers. */
const COMMON = new Set(['accept', 'accept-language', 'cache-control', 'referer', 'user-agent'])

export function recordOf({ url, headers = {}, dedup, bucket }: Args): string | undefined {
  const asked = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  if (!dedup || bucket || asked.some(([name]) => !COMMON.has(name))) return undefined
  return `by-url/${hex(JSON.stringify([url, ...asked.sort(([a], [b]) => (a < b ? -1 : 1))]))}`
}

export type Known = Downloaded & { until: number }

export async function read(files: Files, key: string): Promise<Known | undefined> {
  const found = await files.bucket.get(key)
  return found ? ((await new Response(found.body).json()) as Known) : undefined
}

export async function knownOf({ files }: Resources, record: string | undefined): Promise<Known | undefined> {
  const known = record && (await read(files, record))
  return known && (await files.bucket.head(keyOf(known.file))) ? known : undefined
}

export async function remember({ files }: Resources, record: string, known: Known): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(known))
  await files.bucket.put(record, bytes, { type: 'application/json' })
}
