import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pagesIn } from '../../infra/docs/pages.ts'

export const root = join(import.meta.dirname, '../..')

const readmesIn = (folder: string): string[] =>
  readdirSync(join(root, folder))
    .map((name) => `${folder}/${name}/README.md`)
    .filter((file) => pagesIn(join(root, folder)).includes(file.slice(folder.length + 1)))

export const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'src/README.md',
  ...pagesIn(join(root, 'docs')).map((page) => `docs/${page}`),
  ...readmesIn('examples'),
  ...readmesIn('templates'),
]

export type Block = { page: string; line: number; kind: string; text: string }

export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(({ index, 1: kind, 2: code }) => ({
    page,
    line: text.slice(0, index).split('\n').length + 1,
    kind: kind || 'text',
    text: code!,
  }))
}

export function blockAt(page: string, start: string): Block {
  const found = blocksOf(page).filter(({ text }) => text.startsWith(start))
  if (found.length !== 1) throw new Error(`${page}: expected one block that begins with ${start}, got ${found.length}`)
  return found[0]!
}
