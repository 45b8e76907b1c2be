import { statuses } from '../../../src/core/job.ts'
import type { JobView, Why, WhyLink } from '../../../src/engine/engine.ts'
import { counted, type Facts, having, messageOf, ranFor } from './facts.ts'
import { foldedIn, logLine } from './messages.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { clockFrom, clockOf, dayOf, hourOf, isSame, n, row, shortened, since, sum, time, took } from './words.ts'

type Run = Awaited<ReturnType<Scene['site']['engine']['jobs']['runs']>>['runs'][number]

const timeOn = (at: number): string => `${dayOf(at) === dayOf(Date.now()) ? '' : dayOf(at)} ${clockOf(at)}`

export function whyTexts({ running, run, reasons, limit }: WhyLink, error = ''): string[] {
  if (running) return [run ? `${since(run.startedAt)} ${run.process ?? run.lane ?? ''} ${clockOf(run.leaseUntil)}` : '']
  return reasons.map(({ code, data: { ahead, concurrency, waiting, attempts, failures, losses }, until }) => {
    const at = until === undefined ? '' : `${timeOn(until)}, in ${since(until)}`
    const before = ahead ? n(Number(ahead)) : ''
    const holder = limit?.holders[0]
    if (code === 'CHILDREN') return n(Math.max(1, Number(waiting ?? 0)))
    if (code === 'FAILED') return n(Math.max(1, Number(attempts ?? 0)))
    if (code === 'BACKOFF')
      return `${at} ${failures ? n(Number(failures)) : ''} ${losses ? n(Number(losses)) : ''} ${error}`
    if (code !== 'LIMITED') return `${before} ${at}`
    const held = holder ? `#${holder.job} ${holder.startedAt === null ? '' : since(holder.startedAt)}` : ''
    return `${n(limit?.running ?? Number(concurrency))} of ${n(Number(concurrency))}. ${before} ${at} ${held}`
  })
}

/** The page shows at most three causes. */
function causes(facts: Facts, why: Why, job: JobView, children: readonly JobView[]): Claims {
  const { chain = [] } = why
  const own = whyTexts(why, job.error === null ? '' : messageOf(job))
  const behind = chain.map((link) => `#${link.job} ${whyTexts(link)[0]}`)
  const beside = children.flatMap(({ id, waitingAt }) => {
    const limit = facts.limits.find(({ key }) => key === waitingAt)
    if (!limit || chain.some(({ job }) => job === id)) return []
    const waits = n(counted(facts, { waitingAt: limit.key }))
    return [`#${id} ${n(limit.running)} of ${n(limit.concurrency!)}. ${waits} wait`]
  })
  const first = [...own.slice(0, 1), ...beside.slice(0, Math.max(0, 2 - behind.length)), ...behind]
  return { '.why > li': (chain.length === 0 ? own : first).slice(0, 3) }
}

const over = new Set(['completed', 'failed', 'terminated'])

const until = ({ endedAt, status }: JobView, from: number): string =>
  endedAt !== null && over.has(status) ? took(endedAt - from) : since(from)

function stretches(job: JobView, runs: readonly Run[]): string[] {
  const parts: string[] = []
  const add = (ms: number) => ms > 0 && parts.push(took(ms))
  let at = job.createdAt
  for (const { readyAt = at, startedAt, endedAt } of runs.toSorted((a, b) => a.startedAt - b.startedAt)) {
    const from = Math.max(at, readyAt)
    add(from - at)
    add(startedAt - from)
    parts.push(took(endedAt - startedAt))
    at = endedAt
  }
  if (job.status === 'running') {
    add(job.ranAt! - at)
    at = job.ranAt!
  }
  return job.endedAt === at ? parts : [...parts, until(job, at)]
}

const childParts = (child: JobView): string[] =>
  child.ranAt === null
    ? [until(child, child.createdAt)]
    : [took(child.ranAt - child.createdAt), until(child, child.ranAt)]

function waitsIn(job: JobView, runs: readonly Run[], children: readonly JobView[]): string[] {
  const ends = ({ status, endedAt }: JobView) => (status === 'running' ? Number.POSITIVE_INFINITY : (endedAt ?? 0))
  const family = [...(job.status === 'running' ? [job] : []), ...children.filter(({ ranAt }) => ranAt !== null)]
  const busy = [
    ...runs.map(({ startedAt, endedAt }) => [startedAt, endedAt] as const),
    ...family.map((one) => [one.ranAt!, ends(one)] as const),
  ]
  const waits: string[] = []
  let at = job.createdAt
  for (const [from, to] of busy.toSorted(([a], [b]) => a - b)) {
    if (from > at) waits.push(took(from - at))
    at = Math.max(at, to)
  }
  return Number.isFinite(at) ? [...waits, until(job, at)] : waits
}

function timeline({ now }: Facts, job: JobView, runs: readonly Run[], family: readonly JobView[]): Claims {
  const children = family.toSorted((a, b) => a.createdAt - b.createdAt || a.id - b.id)
  const named = Array.from({ length: runs.length + Number(job.status === 'running') }, (_, i) => `run ${i + 1}`)
  const parts = [stretches(job, runs), ...children.map(childParts)]
  const isOpen = job.endedAt === null || job.status === 'suspended'
  const isBrief = (isOpen ? now : job.endedAt!) - job.createdAt < 60_000
  const busy = [...runs, ...children.map(({ ranAt, endedAt }) => ({ startedAt: ranAt, endedAt }))]
  const edges = busy.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]).filter((at) => at !== null)
  const lengths = [...runs, job, ...children].map(({ endedAt, ...one }) => {
    const from = 'startedAt' in one ? one.startedAt : one.ranAt
    return from === null ? '' : endedAt === null ? since(from) : took(endedAt - from)
  })
  const marks = [...waitsIn(job, runs, children), ...lengths, ...edges.map((at) => took(at - job.createdAt))]
  return {
    '.wf .lab.hd': [`Since ${dayOf(job.createdAt)}, ${clockOf(job.createdAt)}`],
    '.wf .trk.hd text': (found) => [
      isBrief ? '0' : clockOf(job.createdAt),
      ...found
        .slice(1, -1)
        .map((text) => marks.find((one) => isSame(text, one, { from: now, to: Date.now() })) ?? marks.join()),
      isBrief ? until(job, job.createdAt) : isOpen ? clockFrom(now, found.at(-1)) : clockOf(job.endedAt!),
    ],
    '.wf .lab .kind': ['this job', ...children.map(({ id }) => `#${id}`)],
    '.wf .trk:not(.hd) > svg@aria-label': parts.map((all) => all.join(', ')),
    '.wf .trk:not(.hd) title': parts.flat(),
    '.wf .trk a@aria-label': runs
      .flatMap(({ n: number }) => (number === undefined ? [] : [`Run ${number}`]))
      .toReversed(),
    '.wf .trk:not(.hd) text': (found) =>
      found.map((text) =>
        named.includes(text) || !/\d/.test(text) ? text : `next run in ${since(job.runAt ?? job.createdAt)}`,
      ),
    '.wf .dur:not(.hd)': [job, ...children].map((one) => until(one, one.createdAt)),
  }
}

const MAX_SHOWN_VALUES = 5

async function portsOf({ site: { engine } }: Scene, job: JobView): Promise<Claims> {
  const ports = (['in', 'out'] as const).flatMap((dir) =>
    Object.entries(job[dir]).map(([name, port]) => ({ dir, name, ...port })),
  )
  if (ports.length === 0) return {}
  const rows = await Promise.all(
    ports.map(async ({ dir, name, size, taken }) => {
      const { values } = await engine.ports.get(String(job.id), dir, name, MAX_SHOWN_VALUES)
      const shown = values.map(({ data }) => (/\d/.test(String(data)) ? `{${data}}${data}` : data)).join(' ')
      return row(
        dir,
        name,
        n(size),
        n(taken),
        `${shown} ${size > MAX_SHOWN_VALUES ? `${n(size - MAX_SHOWN_VALUES)} more` : ''}`,
        '',
        '',
      )
    }),
  )
  const waiting = sum(ports.map(({ size }) => size))
  return { '#ports > header .right': [`${n(waiting)} values wait`], '#ports tbody tr': rows }
}

function keptText({ status, keptUntil, retain }: JobView): string {
  if (keptUntil !== null) return `${dayOf(keptUntil)}, ${hourOf(keptUntil)}`
  if (status === 'failed' || status === 'terminated') return 'until it is deleted'
  return retain === null ? 'class default' : took(retain)
}

function details(job: JobView, runs: readonly Run[]): string[] {
  const { retry, attempt, timeout, run, version, labels, limits, history } = job
  const { max, backoff } = retry ?? {}
  const failures = attempt - Number(job.status === 'running')
  const base = backoff?.base === undefined ? '' : `, ${took(Number(backoff.base))} × ${backoff.factor ?? 2}`
  const commits = history > 0 ? `, ${n(sum(runs.map((one) => one.commits ?? 0)))} commits` : ''
  const ran = took(sum(runs.map(({ startedAt, endedAt }) => endedAt - startedAt)))
  return [
    '',
    ...(Object.keys(labels).length > 0 ? [''] : []),
    ...(limits.length > 0 ? [''] : []),
    ...(max === undefined ? [] : [`${n(Math.min(failures, max))} of ${n(max)}${base}`]),
    ...(timeout === null || run?.process ? [] : [took(timeout)]),
    ...(run ? [run.process ?? `unnamed runner ${run.lane}`] : []),
    ...(version ? [''] : []),
    ...(runs.length > 0 ? [`${n(runs.length)} runs, ${ran}${commits}`] : []),
    keptText(job),
  ]
}

function placeOf(facts: Facts, { id }: JobView): string {
  const failed = having(facts, { status: 'failed' })
  return `${failed.findIndex((one) => one.id === id) + 1} of ${failed.length}`
}

function failure(facts: Facts, job: JobView): Claims {
  if (job.status !== 'failed') return {}
  const completed = having(facts, { class: job.class, status: 'completed' })
  const good = completed.toSorted((a, b) => b.endedAt! - a.endedAt!)[0]!
  const deploy = facts.deploys.find(({ at }) => at <= job.ranAt!)!
  return {
    '.failure > .fault:first-of-type p': [`${messageOf(job)} ${time(job.endedAt!)}`],
    '.pair dd': [ranFor(job), time(deploy.at), `#${good.id} ${time(good.endedAt!)}`, ranFor(good), ''],
  }
}

export async function jobPage(facts: Facts, scene: Scene, id: number, tab?: 'runs'): Promise<Claims> {
  const { engine } = scene.site
  const [job, { runs }, children, { entries, cursor }, why] = await Promise.all([
    engine.jobs.get(String(id)),
    engine.jobs.runs(String(id), { details: true }),
    engine.jobs.children(String(id), 20),
    engine.log.read({ job: String(id), limit: 50 }),
    engine.jobs.why(String(id), { deep: 3 }),
  ])
  const rank = ({ status }: JobView) => ['failed', ...statuses].indexOf(status)
  const sorted = children.toSorted((a, b) => rank(a) - rank(b))
  const family = [...(job.parent ? [job.parent.id] : []), id, ...sorted.map((child) => child.id)]
  const failed = runs.filter(({ outcome }) => outcome === 'failed').length
  const all = runs.length + Number(job.status === 'running')
  const isThrown = job.status === 'failed' && runs[0]?.outcome === 'failed' && why.reasons.length === 1
  const log = entries.map((entry) => logLine(entry))
  const wakesAt = why.reasons[0]?.until
  return {
    'main h1': [`${job.class} #${id} ${job.status === 'queued' && wakesAt ? timeOn(wakesAt) : job.status}`],
    '.crumbs [aria-current]': [`${job.class} #${id}`],
    '.jobhead .facts > span': [
      '',
      ...(job.group ? [''] : []),
      `priority ${job.priority}`,
      `${n(all)} ${all === 1 ? 'run' : 'runs'}${failed > 0 ? `, ${all === 1 ? '' : `${n(failed)} `}failed` : ''}`,
      `created ${time(job.createdAt)} by ${shortened(job.createdBy, 40)}`,
    ],
    '#neighbours': (found) => found.map((text) => (text === '' ? '' : placeOf(facts, job))),
    ...(isThrown ? { '.why > li': [] } : causes(facts, why, job, children)),
    ...failure(facts, job),
    ...(job.status === 'failed' && isThrown && { '#failure > .note': whyTexts(why).slice(0, 1) }),
    ...timeline(facts, job, runs, children),
    ...(await portsOf(scene, job)),
    '#tabs .tabs a': [`Log ${n(entries.length)}${cursor === null ? '' : '+'}`, 'State', `Runs ${n(all)}`, 'Steps'],
    ...(tab === 'runs'
      ? {
          '#tabs .note': [],
          '#tabs .fault p': runs.flatMap(({ n: number, error, endedAt }) =>
            error === undefined ? [] : [`Run ${number} ${time(endedAt)}`],
          ),
          '#tabs tbody tr': runs.map(({ n: number, startedAt, endedAt, readyAt, attempt }) =>
            row(
              `Run ${number}`,
              time(startedAt),
              '',
              '',
              '',
              n(attempt),
              took(startedAt - readyAt!),
              took(endedAt - startedAt),
            ),
          ),
        }
      : {
          '#tabs .log > li[id]@id': entries.map((entry) => `e${entry.id}`),
          '#tabs .log > li[id]': log,
          '#tabs .log summary': foldedIn(entries),
        }),
    '.rail > .card:first-child > header .right': family.length > 1 ? [n(family.length)] : [],
    '.rail .tree li': family.length > 1 ? family.map((one) => `#${one}`) : [],
    '.rail .kv dd': details(job, runs),
  }
}
