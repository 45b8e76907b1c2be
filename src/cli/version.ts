import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from './command.ts'

export function packageFolder(from = dirname(fileURLToPath(import.meta.url))): string {
  try {
    const { name } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as { name?: string }
    if (name === 'sidejob') return from
  } catch {}
  return packageFolder(dirname(from))
}

export const ownVersion = (): string =>
  (JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8')) as { version: string }).version

export const version: Command = {
  does: 'Show the version of this program and of the server',
  async run(client, _, { show }) {
    const server = await client.system.health().then(
      ({ version }) => version,
      () => 'none answers',
    )
    show({ sidejob: ownVersion(), server })
  },
}
