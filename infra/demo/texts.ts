import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

export type Text = { name: string; text: string }

const wanted = /readme|licen[cs]e|copying|notice|\.(md|txt)$|^package\.json$/i
const code = /\.([cm]?[jt]sx?|map)$/

const ROOT = fileURLToPath(new URL('../../node_modules', import.meta.url))

export function allTexts(): Text[] {
  return readdirSync(ROOT, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && wanted.test(entry.name) && !code.test(entry.name))
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)))
    .filter((name) => !/(^|\/)\./.test(name))
    .sort()
    .map((name) => ({ name, text: readFileSync(join(ROOT, name), 'utf8') }))
}

export function* batches(texts: Text[], { bytes = 1_000_000, count = 100 } = {}): Generator<Text[]> {
  let batch: Text[] = []
  let size = 0
  for (const text of texts) {
    const own = Buffer.byteLength(text.text)
    if (batch.length === count || (batch.length > 0 && size + own > bytes)) {
      yield batch
      batch = []
      size = 0
    }
    batch.push(text)
    size += own
  }
  if (batch.length > 0) yield batch
}
