import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, relative, resolve } from 'node:path'

type Wrangler = Pick<typeof import('wrangler'), 'unstable_readConfig'>

export type ProjectSettings = {
  name: string
  entry: string
  define: Record<string, string>
  vars: Record<string, unknown>
}

type Location = { file?: string; line?: number; column?: number; lineText?: string }

export function readSettings(wrangler: Wrangler, config: string): ProjectSettings {
  const { name, main, define, vars } = parsed(wrangler, config)
  if (!main)
    throw new Error(
      `${basename(config)}: expected main, the path of the Worker's entry, such as src/index.ts, got none`,
    )
  const entry = resolve(dirname(config), main)
  if (!existsSync(entry)) {
    const shown = relative(dirname(config), entry)
    throw new Error(
      `${placeOf(config, 'main')}: main: there is no file ${shown}. Create it, or correct the setting main`,
    )
  }
  return { name: name ?? 'worker', entry, define: (define ?? {}) as Record<string, string>, vars: vars ?? {} }
}

function parsed(wrangler: Wrangler, config: string) {
  try {
    return wrangler.unstable_readConfig({ config }, { hideWarnings: true })
  } catch (error) {
    throw new Error(explained(error as Error & { location?: Location }, config))
  }
}

function explained({ message, location }: Error & { location?: Location }, config: string): string {
  const file = basename(config)
  if (!location?.line) return message
  const { line, column = 1, lineText = '' } = location
  const pointer = `${' '.repeat(Math.max(0, column - 1))}^`
  return `${file}:${line}:${column}: ${worded(message)}\n    ${lineText}\n    ${pointer}`
}

const worded = (message: string): string =>
  /^[A-Z][A-Za-z]+$/.test(message) ? message.replace(/(?!^)([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`) : message

function placeOf(config: string, member: string): string {
  const lines = readFileSync(config, 'utf8').split('\n')
  const at = lines.findIndex((line) => new RegExp(`"${member}"\\s*:|^\\s*${member}\\s*=`).test(line))
  return at < 0 ? basename(config) : `${basename(config)}:${at + 1}`
}
