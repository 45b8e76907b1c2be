import { basename, join, resolve } from 'node:path'
import { configIn, noConfig } from '../../deploy/config-file.ts'
import { type Command, type Given, UsageError } from '../command.ts'

/** Returns undefined for a folder without a Worker, or without wrangler. */
export async function workerNameIn(folder: string): Promise<string | undefined> {
  const config = configIn(folder)
  if (!config) return undefined
  const reader = await import('../../deploy/config.ts').catch(() => undefined)
  return reader?.readProject(config).raw.name
}

const nameOption = {
  does: "name of the deployment; by default the name in wrangler's configuration",
} as const

async function optionsOf(given: Given, folder: string, say: (line: string) => void) {
  const config = configIn(resolve(folder))
  if (!config) throw new UsageError(noConfig(resolve(folder)))
  const { readProject } = await import('../../deploy/config.ts')
  const asked = given.name === undefined ? readProject(config).raw.name : String(given.name)
  const source = given.name === undefined ? `name in ${basename(config)}` : '--name'
  return { env: process.env, name: asked, source, config, folder: join(resolve(folder), '.sidejob'), say }
}

export const deploy: Command = {
  does: 'Deploy the Worker in this folder with its secrets and schedule, and check that it works',
  takes: ['[folder]'],
  flags: ['help'],
  options: {
    name: nameOption,
    'dry-run': { type: 'boolean', does: 'print only the plan and the missing settings' },
    cron: {
      type: 'boolean',
      does: 'use a cron trigger for the tick (default); --no-cron removes it and uses QStash instead',
    },
  },
  async run(_client, given, { print, note }, [folder = '.']) {
    const options = await optionsOf(given, folder, print)
    const { describe, planOf } = await import('../../deploy/settings.ts')
    const plan = planOf(options.env, options.name, options.source)
    const isIncomplete = plan.missing.length > 0 || plan.refused.length > 0
    if (given['dry-run'] || isIncomplete) {
      for (const line of describe(plan)) print(line)
      if (isIncomplete) note('Nothing was deployed. Set these variables, then deploy again')
      return isIncomplete ? 1 : 0
    }
    const infra = await import('../../deploy/index.ts')
    await infra.deploy({ ...options, cron: given.cron !== false })
    return 0
  },
}

export const destroy: Command = {
  does: 'Remove a deployment; keep its data in Redis and R2',
  takes: ['[folder]'],
  flags: ['help'],
  options: { name: nameOption, yes: { type: 'boolean', short: 'y', does: 'remove it without asking' } },
  async run(_client, given, { print, note, confirm }, [folder = '.']) {
    const options = await optionsOf(given, folder, print)
    if (!given.yes && !(await confirm(`remove ${options.name}?`))) {
      note(`${options.name} would be removed; add --yes to remove it`)
      return 1
    }
    const infra = await import('../../deploy/index.ts')
    await infra.destroy(options)
    return 0
  },
}
