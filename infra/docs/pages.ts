// The pages of the manual, and the names of their headings.

import { readdirSync } from 'node:fs'

/** The Markdown files of a folder and all below it, relative to it, in order. */
export const pagesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .sort()

/** The anchor of a heading, as GitHub makes it. @example slug('What `why` says') // 'what-why-says' */
export const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/\]\([^)]*\)/g, '')
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-')

/** The anchors of a page; a heading that is there twice is counted, as GitHub does. */
export function slugs(text: string): string[] {
  const seen = new Map<string, number>()
  const headings = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} (.+)$/gm)
  return [...headings].map(([, heading]) => {
    const name = slug(heading!)
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    return before ? `${name}-${before}` : name
  })
}
