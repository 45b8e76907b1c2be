import { readdirSync } from 'node:fs'

export const pagesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))
    .sort()

/** Returns the anchor that GitHub would create. @example slug('What `why` says') // 'what-why-says' */
export const slug = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/\]\([^)]*\)/g, '')
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .trim()
    .replaceAll(' ', '-')

/** Repeated headings get a number, as on GitHub. */
export function slugger(): (heading: string) => string {
  const seen = new Map<string, number>()
  return (heading) => {
    const name = slug(heading)
    const before = seen.get(name) ?? 0
    seen.set(name, before + 1)
    return before ? `${name}-${before}` : name
  }
}
