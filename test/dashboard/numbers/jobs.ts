import { FIRST_HISTORY_ID } from '../many-ended.ts'
import { counted, type Facts, having, type Job, messageOf, ranFor, slotsOf, worstFirst } from './facts.ts'
import { sidesOf } from './limits.ts'
import { kinds } from './overview.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { cut, dayOf, momentOf, n, percent, row, sum, time, took } from './words.ts'

const order = ['queued', 'running', 'suspended', 'completed', 'failed', 'terminating', 'terminated'] as const

const jobsFrame = (facts: Facts): Claims => ({
  '.counts b': [n(facts.jobs.length), ...order.map((status) => n(counted(facts, { status })))],
})

const tagsOf = (labels: Job['labels']): string =>
  Object.entries(labels)
    .map((pair) => pair.join('='))
    .join(' ')

/** The test reads the attribute `title` only if it has a digit. */
const titled = (text: string): string => (/\d/.test(text) ? `{${text}}${text}` : text)

function jobRow(job: Job): string {
  const { id, status, class: name, group, labels, queue, attempt, createdAt, endedAt } = job
  const tries = status === 'failed' ? Math.max(1, attempt) : attempt
  return [
    `{Select job ${id}}`,
    status,
    `#${id}`,
    `${name} ${cut(group ?? '', 24)} ${tagsOf(labels)}`,
    status === 'completed' ? `completed in ${ranFor(job)}` : titled(messageOf(job)),
    queue,
    tries === 0 ? '–' : `{attempt ${tries}}`,
    ranFor(job),
    time(endedAt ?? createdAt),
  ].join(' | ')
}

const jobTable = (jobs: readonly Job[]): Claims => ({
  '#rows tr': jobs.slice(0, 50).map(jobRow),
  '#bulk .n': ['0 selected'],
})

export const jobsPage = (facts: Facts): Claims => ({
  '.head .note': [`${n(facts.jobs.length)} jobs`],
  ...jobsFrame(facts),
  ...jobTable(facts.jobs),
})

export function failedPage(facts: Facts): Claims {
  const failed = having(facts, { status: 'failed' })
  return {
    '.head .note': [`${n(failed.length)} failed jobs`],
    ...jobsFrame(facts),
    ...kinds(facts),
    ...jobTable(failed),
  }
}

type ClassRow = Facts['classes'][number]

export const spread = (of: ClassRow['took']): string =>
  of ? `{${took(of.mean)} on average}≤ ${took(of.p50)} / ${took(of.p95)}` : '–'

export function byClass(facts: Facts): Claims {
  const day = new Date(facts.now).toISOString().slice(0, 10)
  return {
    '.head .note': [`${n(facts.classes.length)} classes`],
    ...jobsFrame(facts),
    '.list h2': [`${new Date(facts.now).toUTCString().slice(0, 3)} ${dayOf(facts.now)} ${day.slice(0, 4)}`],
    '.list > header .tag': [n(facts.classes.length)],
    '.list caption': [`Counts by class on ${day}, UTC`],
    '.list .foot': [
      `${n(sum(facts.classes.map(({ counts }) => counts.runs)))} runs ended, ${n(counted(facts, { status: 'running' }))} are running. Times: p50 / p95. Most failed jobs first, then by queue.`,
    ],
    '.list tbody tr': worstFirst(facts).map(({ queue, class: name, counts, waited, took }) => {
      const of = (status: Job['status']) => counted(facts, { queue, class: name!, status })
      const [completed, failed] = [of('completed'), of('failed')]
      return [
        name,
        queue,
        n(counted(facts, { queue, class: name! })),
        n(of('running')),
        `${n(counts.runs)}${counts.lost > 0 ? ` ${n(counts.lost)} lost` : ''}`,
        n(completed),
        failed === 0 ? '0' : `${n(failed)} ${percent(failed / (failed + completed))}`,
        spread(waited),
        spread(took),
      ].join(' | ')
    }),
  }
}

export async function happenedTo({ status, ranAt, runAt, waitingAt, id, error }: Job, facts: Facts, scene: Scene) {
  if (error !== null) return messageOf({ error })
  if (status === 'running') return time(ranAt!)
  if (status === 'suspended') return n(Object.keys((await scene.site.engine.jobs.get(String(id))).children).length)
  const most = facts.limits.find(({ key }) => key === waitingAt)?.concurrency
  if (most) return `${n(most)} of ${n(most)}`
  return status === 'queued' && runAt !== null && runAt > facts.now ? time(runAt) : ''
}

export async function groupPage(facts: Facts, scene: Scene, id: string): Promise<Claims> {
  const { limit } = await scene.site.engine.limits.usage(`group:${id}`, {})
  const [runs, waits] = [counted(facts, { group: id, status: 'running' }), counted(facts, { waitingAt: `group:${id}` })]
  const jobs = having(facts, { group: id }).slice(0, 10)
  const open = ['queued', 'running'] as const
  const all = sum(open.map((status) => counted(facts, { group: id, status })))
  const happened = await Promise.all(
    jobs.map((job) => (job.status === 'completed' ? `completed in ${ranFor(job)}` : happenedTo(job, facts, scene))),
  )
  return {
    '.head .note': [
      `${n(runs)} jobs are running, ${n(waits)} wait for this limit, ${n(all - runs - waits)} wait elsewhere`,
    ],
    '.stack > .card:first-child > header .right': [`max ${n(limit.concurrency!)} running`],
    '.body .sub': [slotsOf(limit)],
    ...(await sidesOf(scene, `group:${id}`)),
    '.stack > .card:last-child tbody tr': jobs.map(({ id, status, class: name, endedAt, createdAt }, i) =>
      row(`${status} ${name} #${id}`, happened[i], time(endedAt ?? createdAt)),
    ),
  }
}

export async function historyPage(_: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const [{ jobs, cursor }, { views }] = await Promise.all([engine.history.list({ limit: 50 }), engine.views.list()])
  return {
    '.head .note': [`${n(jobs.length)} ${cursor === null ? 'jobs' : 'so far'}`],
    '.views a': ['All ended', 'Last 24 h', 'Last 7 days', 'Over a minute', ...views.map(({ name }) => name)],
    '#rows tr': jobs.map((job) => {
      const { id, status, class: name, group, labels, error, result, queue, attempts, took: ms, endedAt } = job
      return row(
        '',
        status,
        `#${id}`,
        `${name} ${group ?? ''} ${tagsOf(labels)}`,
        error === null ? String(result ?? '') : messageOf({ error }),
        queue,
        n(attempts),
        ms === null ? '–' : took(ms),
        time(endedAt),
      )
    }),
  }
}

export async function pastJobPage(_: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const { ends } = await engine.history.get(String(FIRST_HISTORY_ID))
  const [end] = ends as [(typeof ends)[number]]
  const { queue, class: name, labels, waited, attempts, error, args, createdAt, endedAt } = end
  const isSame = (value: unknown) => (found: readonly string[]) =>
    found.map((text) => (JSON.stringify(JSON.parse(text)) === String(value) ? text : String(value)))
  return {
    'main h1': [`${name} #${FIRST_HISTORY_ID}`],
    '.crumbs [aria-current]': [`History of job ${FIRST_HISTORY_ID}`],
    '.card > header .right': [time(endedAt)],
    '.kv dd': [
      queue,
      name,
      tagsOf(labels),
      momentOf(createdAt),
      momentOf(endedAt),
      took(waited!),
      took(end.took!),
      n(attempts),
    ],
    '.fault b': [messageOf({ error })],
    '.fault pre': isSame(error),
    '.pair pre': isSame(args),
  }
}
