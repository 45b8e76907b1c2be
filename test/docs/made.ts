// In a page, the text between `<!-- made: name -->` and `<!-- /made -->` is generated. `npx vitest run test/docs -u`
// generates this text again.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'

const docs = join(import.meta.dirname, '../../docs')

/** In a table, `|` would end the cell, and `<name>` outside code would be HTML. */
const cellOf = (text: string): string =>
  text
    .replaceAll('|', '\\|')
    .split('`')
    .map((part, i) => (i % 2 ? part : part.replace(/<(?!br>)/g, '&lt;')))
    .join('`')

export const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows.map((row) => row.map(cellOf))].map((row) => `| ${row.join(' | ')} |`).join('\n')

const partOf = (name: string) => new RegExp(`(<!-- made: ${name} -->\n)[\\s\\S]*?(\n<!-- /made -->)`)

export async function expectMade(page: string, parts: Record<string, string>): Promise<void> {
  const file = join(docs, page)
  const made = Object.entries(parts).reduce(
    (text, [name, part]) => {
      expect(text, `${page} has no place for ${name}`).toMatch(partOf(name))
      return text.replace(partOf(name), (_, start, end) => `${start}${part}${end}`)
    },
    readFileSync(file, 'utf8'),
  )
  await expect(made).toMatchFileSnapshot(file)
}
