import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** In wrangler's order of precedence. */
const names = ['wrangler.json', 'wrangler.jsonc', 'wrangler.toml']

export const configIn = (folder: string): string | undefined =>
  names.map((name) => join(folder, name)).find((path) => existsSync(path))

export const noConfig = (folder: string): string =>
  `${folder}: expected one of ${names.join(', ')}, got none. Create a project with npx sidejob create`
