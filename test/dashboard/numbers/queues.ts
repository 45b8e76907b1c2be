import type { QueueView } from '../../../src/engine/engine.ts'
import { chart } from './chart.ts'
import { counted, type Facts, having, type Job, waitingIn } from './facts.ts'
import { spread } from './jobs.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { n, percent, row, since, time } from './words.ts'

export function queueRow(facts: Facts, queue: QueueView, ends = true): string {
  const { name, mode, paused, lanes, maxLanes, oldestReady } = queue
  const { ready, limited, later, pull } = waitingIn(facts, { queue: name })
  const count = (status: Job['status']) => counted(facts, { queue: name, status })
  const pulled = count('running')
  const served = [
    mode === 'push' && (lanes > 0 || pulled + pull === 0) ? `${lanes} of ${maxLanes} lanes` : '',
    pulled > 0 ? n(pulled) : '',
    pull > 0 ? n(pull) : '',
  ]
  const ended = `${n(count('completed'))} completed, ${n(count('failed'))} failed`
  return [
    mode === 'pull' ? `${name} pull` : name,
    paused ? 'paused' : served.join(' '),
    paused ? `{Jobs start when the queue is resumed.}${n(ready)}` : n(ready),
    oldestReady === null ? '–' : since(oldestReady),
    n(limited),
    n(count('running')),
    n(later),
    n(count('failed')),
    ...(ends ? [`{${ended}}${ended}`] : []),
  ].join(' | ')
}

const isLast = (name: string): boolean => /^(core|files|alerts|downloader|sidejob(\..+)?)$/.test(name)

function failedOrHeld(facts: Facts, { name, paused }: QueueView): number {
  const { ready, limited, pull } = waitingIn(facts, { queue: name })
  return counted(facts, { queue: name, status: 'failed' }) + limited + (paused ? ready : pull)
}

export const inOrder = (facts: Facts): QueueView[] =>
  facts.queues.toSorted(
    (a, b) => failedOrHeld(facts, b) - failedOrHeld(facts, a) || Number(isLast(a.name)) - Number(isLast(b.name)),
  )

const isIdle = (facts: Facts, { name }: QueueView): boolean =>
  name.startsWith('sidejob') &&
  (['queued', 'running', 'suspended', 'failed'] as const).every(
    (status) => counted(facts, { queue: name, status }) === 0,
  )

export const queuesPage = (facts: Facts): Claims => ({
  '.head .note': [`${n(facts.queues.length)} queues, ${n(facts.queues.filter(({ paused }) => paused).length)} paused`],
  'main tbody tr': inOrder(facts)
    .toSorted((a, b) => Number(isIdle(facts, a)) - Number(isIdle(facts, b)))
    .map((queue) => queueRow(facts, queue)),
  'main summary': [`${n(facts.queues.filter((queue) => isIdle(facts, queue)).length)} idle internal queues`],
})

const DEFAULT_BATCH_JOBS = 100

export async function queuePage(facts: Facts, { site: { engine } }: Scene, name: string): Promise<Claims> {
  const queue = await engine.queues.get(name, { limit: 20 })
  const { ready, limited } = waitingIn(facts, { queue: name })
  const own = facts.classes.filter((row) => row.queue === name).toSorted((a, b) => b.counts.runs - a.counts.runs)
  const pulling = facts.processes.flatMap((one) => (one.kind === 'pull' && one.queues.includes(name) ? [one] : []))
  const [, next, under, classes, serves] = [1, 2].flatMap((column) =>
    [1, 2, 3, 4].map((at) => `.below > .stack:nth-child(${column}) > .card:nth-child(${at})`),
  ) as [string, string, string, string, string]
  const { entries } = await engine.audit.read({ limit: 200 })
  const pauses = entries.filter(({ path, change }) => path === `/v1/queues/${name}` && change?.includes('paused'))
  const running = having(facts, { queue: name, status: 'running' })
  const failed = counted(facts, { queue: name, status: 'failed' })
  const areAllPull = queue.next.every(({ pull }) => pull)
  return {
    'main > .card .tbl.lined tbody tr': [queueRow(facts, queue, false)],
    ...chart(facts, name),
    'main > .card > p.body': [
      ...pauses.map(({ at }) => `Paused ${time(at)}`),
      ...(failed > 0 ? [`See the errors of ${n(failed)} failed jobs`] : []),
      ...(limited > 0 ? [`${n(limited)} wait`] : []),
    ],
    [`${next} > header .tag`]: [n(ready)],
    [`${next} tbody tr`]: queue.next.map(({ job, class: of, group, pull, priority, since: at }, i) =>
      [
        i + 1,
        `#${job}`,
        [
          of,
          group,
          [priority !== 0 && `priority ${priority}`, pull && !areAllPull && 'waits for a pull worker']
            .filter(Boolean)
            .join('; '),
        ]
          .filter(Boolean)
          .join(' '),
        time(at),
      ].join(' | '),
    ),
    [`${under} > header .tag`]: [n(running.length)],
    [`${under} tbody tr`]: queue.runs
      .slice(0, 6)
      .map(({ class: of, job, startedAt }) => row(`${of} #${job}`, time(startedAt), '')),
    [`${serves} > header .tag`]: [n(pulling.length)],
    [`${serves} tbody tr`]: pulling.map(
      (one) =>
        `${one.id} pull | ${n(one.runs.filter(({ queue }) => queue === name).length)} runs | ${time(one.seenAt)}`,
    ),
    '.form label .note': ['', '', `default ${DEFAULT_BATCH_JOBS}`, ''],
    [`${classes} > header .tag`]: [n(own.length)],
    [`${classes} tbody tr`]: own.slice(0, 12).map(({ class: of, counts, took }) => {
      const [failed, completed] = (['failed', 'completed'] as const).map((status) =>
        counted(facts, { queue: name, class: of!, status }),
      ) as [number, number]
      const share = failed === 0 ? '0' : `${n(failed)} ${percent(failed / (failed + completed))}`
      return `${of} | ${n(counts.runs)} | ${share} | ${spread(took)}`
    }),
  }
}
