import { counted, type Facts, having, periodOf, slotsOf } from './facts.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { clockOf, cut, n, row, sum, time } from './words.ts'

const boundOf = ({
  concurrency,
  rate,
}: {
  concurrency?: number | null
  rate?: { limit: number; period: number } | null
}) =>
  [
    ...(concurrency ? [`max ${n(concurrency)} running`] : []),
    ...(rate ? [`${n(rate.limit)} per ${periodOf(rate.period)}`] : []),
  ].join(', ')

export async function limitsPage(facts: Facts, { site: { engine } }: Scene): Promise<Claims> {
  const waiting = (key: string) => counted(facts, { waitingAt: key })
  const full = facts.limits.filter(
    ({ key, concurrency, running }) => concurrency !== null && running >= concurrency && waiting(key) > 0,
  )
  const all = sum(facts.limits.map(({ key }) => waiting(key)))
  const { constraints } = await engine.constraints.list()
  const limits = facts.limits.toSorted(
    (a, b) =>
      Number(full.includes(b)) - Number(full.includes(a)) ||
      waiting(b.key) - waiting(a.key) ||
      b.running - a.running ||
      (a.key < b.key ? -1 : 1),
  )
  const openIn = (id: string) =>
    having(facts, { group: id, status: 'queued' }).length + having(facts, { group: id, status: 'running' }).length
  const ordered = facts.groups.toSorted(
    (a, b) => openIn(b.id) - openIn(a.id) || b.running - a.running || (a.id < b.id ? -1 : 1),
  )
  const use = (name: string, of: 'running' | 'waiting') =>
    n(sum(limits.filter(({ key }) => key.startsWith(`constraint:${name}:`)).map((one) => one[of])))
  return {
    '.head .note': [`${n(limits.length)} limits, ${n(full.length)} full; ${n(all)} jobs wait`],
    '.limit > .line .grow .sub': limits.map(boundOf),
    '.limit > .line > div:nth-child(2) .sub': limits.map(slotsOf),
    '.limit > .line > .q': limits.map(({ key }) => (waiting(key) > 0 ? `${n(waiting(key))} wait` : 'no jobs wait')),
    '.c21.below > .card:first-child tbody tr': ordered.map(({ id, concurrency }) => {
      const held = n(having(facts, { group: id, status: 'running' }).length)
      return row(
        cut(id, 28),
        '',
        concurrency === null ? held : `${held} of ${n(concurrency)}`,
        n(waiting(`group:${id}`)),
        n(openIn(id) - having(facts, { group: id, status: 'running' }).length - waiting(`group:${id}`)),
        /\d/.test(id) ? `{Change group ${id}}` : '',
      )
    }),
    '.c21.below > .card:last-child tbody tr': constraints.map((one) =>
      row(`${one.name} ${boundOf(one)}; ${use(one.name, 'running')} running, ${use(one.name, 'waiting')} waiting`, ''),
    ),
  }
}

const MAX_LISTED_JOBS = 100
const VISIBLE_ROWS = 8

export async function sidesOf({ site: { engine } }: Scene, key: string): Promise<Claims> {
  const { limit, holders, waiting } = await engine.limits.usage(key, {
    holders: MAX_LISTED_JOBS,
    waiting: MAX_LISTED_JOBS,
  })
  const last = holders.find(({ leaseUntil }) => leaseUntil === limit.nextRoom)
  const room = limit.nextRoom === null ? '' : `${clockOf(limit.nextRoom)} ${last ? last.job : ''}`
  const sides: { rows: readonly { group: string | null }[]; all: number }[] = [
    { rows: holders, all: limit.running },
    { rows: waiting, all: limit.waiting },
  ]
  const legends = sides.flatMap(({ rows, all }) => {
    const groups = [...Map.groupBy(rows, ({ group }) => group)].sort(([, a], [, b]) => b.length - a.length)
    const first = all > rows.length ? ` of the first ${n(rows.length)}` : ''
    return groups.length < 2 ? [] : [groups.map(([, own]) => n(own.length)).join(' ') + first]
  })
  return {
    '.open h3': [
      `${n(limit.running)} ${limit.concurrency === null ? '' : `of ${n(limit.concurrency)}`}`,
      ...(limit.waiting > 0 ? [n(limit.waiting)] : []),
    ],
    '.open h3 + .note': [room, ...(limit.waiting > 0 ? [''] : [])],
    '.shares-of': legends,
    '.few .note': sides.flatMap(({ rows, all }) => (all > rows.length ? [`${n(rows.length)} of ${n(all)}`] : [])),
    '.few summary': sides.flatMap(({ rows }) => (rows.length > VISIBLE_ROWS ? [n(rows.length)] : [])),
    '.open > div:first-child tbody tr': holders.map(({ job, class: name, process, startedAt, leaseUntil }) =>
      row(`${name} #${job}`, process ?? '–', time(startedAt!), time(leaseUntil)),
    ),
    '.open > div + div tbody tr': waiting.map(({ job, class: name, since: at }, i) =>
      row(i + 1, `${name} #${job}`, time(at)),
    ),
  }
}

export const openedLimit = async (facts: Facts, scene: Scene, key: string): Promise<Claims> => ({
  ...(await limitsPage(facts, scene)),
  ...(await sidesOf(scene, key)),
})

const MAX_PREVIEWED_JOBS = 500

function fitting(facts: Facts): string {
  const open = facts.jobs.filter(({ status }) => ['queued', 'running', 'suspended'].includes(status))
  const fits = open.slice(0, MAX_PREVIEWED_JOBS).filter(({ class: name }) => name === 'crawl').length
  return `${n(fits)} of the ${n(Math.min(MAX_PREVIEWED_JOBS, open.length))} open jobs match`
}

export const constraintForm = async (facts: Facts, scene: Scene): Promise<Claims> => ({
  ...(await limitsPage(facts, scene)),
  '#preview': [fitting(facts)],
})
