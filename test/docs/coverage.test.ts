import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type * as z from 'zod'
import { core } from '../../functions/core.ts'
import { pagesIn } from '../../infra/docs/pages.ts'
import { localSettings } from '../../infra/settings.ts'
import { commands } from '../../src/cli/main.ts'
import { table as client } from '../../src/client/table.generated.ts'
import { codes } from '../../src/core/errors.ts'
import { limits } from '../../src/core/limits.ts'
import { reasons } from '../../src/core/reasons.ts'
import { jobInput, jobPatch, queuePatch, worker } from '../../src/core/schemas.ts'
import { JobFacts } from '../../src/engine/run/facts.ts'
import { Job } from '../../src/engine/run/job.ts'
import { Steps } from '../../src/engine/run/steps.ts'
import { facades } from '../../src/facades/index.ts'
import { metrics } from '../../src/http/metrics.ts'
import { describer } from '../../src/http/openapi.ts'
import type { Schema } from '../../src/http/openapi-types.ts'
import { list } from '../../src/http/routes.ts'
import { settings } from '../../src/settings.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

/** Excludes the compatibility tables, because they use names of other systems. */
const manual = pagesIn(join(root, 'docs'))
  .filter((page) => !page.startsWith('compat/'))
  .map((page) => read(`docs/${page}`))
const code = manual.flatMap((text) => [
  ...[...text.matchAll(/^```\w*\n([\s\S]*?)^```$/gm)].map(([, block]) => block!),
  ...[...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`]+)`/g)].map(([, span]) => span!),
])
const headings = manual.flatMap((text) => [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => heading!))
const words = new Set([...code, ...headings].flatMap((text) => text.match(/\w+/g) ?? []))
const spans = new Set(code.map((text) => text.replace(/ <[^>]+>$/, '')))
const whole = code.join('\n')

function keysOf(schema: z.ZodType): string[] {
  const named: Record<string, Schema> = {}
  const { $ref, ...shape } = describer(named)(schema) as Schema & { $ref?: string }
  return Object.keys((($ref ? named[$ref.split('/').at(-1)!] : shape) as { properties: object }).properties)
}

const membersOf = (path: string, type: string): string[] => {
  const [, body] = new RegExp(`type ${type}\\b[^{]*\\{([\\s\\S]*?)\\n\\}`).exec(read(path))!
  return [...body!.matchAll(/^ {2}(\w+)\??:/gm)].map(([, name]) => name!)
}

const queue = { name: 'q', counts: { queued: 1 }, oldestReady: 1, lanes: 1, maxLanes: 1, paused: false }
const served = metrics({
  queues: [queue],
  total: { q: { runs: 1 } },
  waits: { q: [1] },
  classes: [{ queue: 'q', class: 'c', took: { buckets: [1] } }],
  limits: [{ key: 'l', running: 1, waiting: 1 }],
  groups: [],
} as unknown as Parameters<typeof metrics>[0])

const offered: Record<string, { names: string[]; isTold?: (name: string) => boolean }> = {
  route: {
    names: [...list, ...facades.flatMap(({ routes }) => Object.values(routes))].map(
      (one) => `${one.method} ${one.path}`,
    ),
    isTold: (name) => spans.has(name),
  },
  'method of the client': {
    names: Object.entries(client).flatMap(([resource, all]) => Object.keys(all).map((verb) => `${resource}.${verb}`)),
    isTold: (name) => whole.includes(name),
  },
  'option of a job': { names: [...keysOf(jobInput), ...keysOf(jobPatch)] },
  'option of a class': { names: [...membersOf('src/core/worker.ts', 'WorkerOptions'), ...keysOf(worker)] },
  'option of createWorker': {
    names: [...membersOf('src/cloudflare/worker.ts', 'WorkerSettings'), ...membersOf('src/cloudflare/log.ts', 'Hooks')],
  },
  'setting of a queue': { names: keysOf(queuePatch) },
  'error code': { names: Object.keys(codes) },
  reason: { names: Object.keys(reasons) },
  limit: { names: Object.keys(limits) },
  setting: { names: [...Object.keys(settings), ...Object.values(localSettings).flatMap(Object.keys)] },
  metric: { names: [...served.matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name!) },
  command: { names: Object.keys(commands), isTold: (name) => whole.includes(`sidejob ${name}`) },
  'member of job': {
    names: [Job.prototype, JobFacts.prototype, Steps.prototype]
      .flatMap(Object.getOwnPropertyNames)
      .filter((name) => name !== 'constructor'),
  },
  'class of the standard library': { names: core.map((one) => one.class) },
}

test.each(Object.entries(offered))('every %s is in the manual', (_, { names, isTold = (name) => words.has(name) }) => {
  expect(names.length).toBeGreaterThan(3)
  expect([...new Set(names)].filter((name) => !isTold(name))).toEqual([])
})
