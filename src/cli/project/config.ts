import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** In wrangler's order of precedence. */
export const configNames = ['wrangler.json', 'wrangler.jsonc', 'wrangler.toml']

export const configIn = (folder: string): string | undefined =>
  configNames.map((name) => join(folder, name)).find(existsSync)

export async function workerNameIn(folder: string): Promise<string | undefined> {
  const config = configIn(folder)
  if (!config) return undefined
  const reader = await import('../../deploy/config.ts').catch(() => undefined)
  return reader?.readProject(config).raw.name
}
