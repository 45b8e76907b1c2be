// sidejob deploy, sidejob destroy: the Worker of this folder with its secrets and QStash's schedule, and away with them.

import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Command, type Given, UsageError } from '../command.ts'

const configs = ['wrangler.jsonc', 'wrangler.json', 'wrangler.toml']

/** The configuration of the folder, and the name that it says. */
async function projectIn(folder: string): Promise<{ toml: string; name?: string }> {
  const toml = configs.map((file) => join(folder, file)).find(existsSync)
  if (!toml) throw new UsageError(`expected ${configs.join(', ')} in ${folder}; sidejob create makes a project`)
  const { nameIn } = await import('../../../infra/deploy/wrangler.ts')
  return { toml, name: nameIn(toml) }
}

const nameOption = {
  type: 'string',
  does: "what all of it is called; by default what wrangler's configuration says",
} as const

async function optionsOf(given: Given, folder: string, say: (line: string) => void) {
  const { toml, name } = await projectIn(resolve(folder))
  const asked = given.name === undefined ? name : String(given.name)
  return { env: process.env, name: asked, toml, folder: join(resolve(folder), '.sidejob'), say }
}

export const deploy: Command = {
  does: 'deploys the Worker of this folder with its secrets and its schedule, and sees that it works',
  takes: ['[folder]'],
  options: {
    name: nameOption,
    'dry-run': { type: 'boolean', does: 'says what it would do, and what is missing' },
    cron: { type: 'boolean', does: "as usual; --no-cron ticks by QStash alone, not by Cloudflare's cron" },
  },
  async run(_client, given, { print }, [folder = '.']) {
    const options = await optionsOf(given, folder, print)
    const { describe, planOf } = await import('../../../infra/deploy/settings.ts')
    const plan = planOf(options.env, options.name)
    const isIncomplete = plan.missing.length > 0 || plan.refused.length > 0
    if (given['dry-run'] || isIncomplete) {
      for (const line of describe(plan)) print(line)
      return isIncomplete ? 1 : 0
    }
    const infra = await import('../../../infra/deploy/index.ts')
    await infra.deploy({ ...options, cron: given.cron !== false })
    return 0
  },
}

export const destroy: Command = {
  does: 'takes a deployment down; what it has stored in Redis and R2 stays',
  takes: ['[folder]'],
  options: { name: nameOption, yes: { type: 'boolean', short: 'y', does: 'does it, without asking' } },
  async run(_client, given, { print, note, confirm }, [folder = '.']) {
    const options = await optionsOf(given, folder, print)
    if (!given.yes && !(await confirm(`take ${options.name} down?`))) {
      note(`${options.name} would be taken down; --yes does it`)
      return 1
    }
    const infra = await import('../../../infra/deploy/index.ts')
    await infra.destroy(options)
    return 0
  },
}
