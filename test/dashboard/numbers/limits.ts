// Limits, groups and constraints.

import { counted, type Facts, having, periodOf, slotsOf } from './facts.ts'
import type { Scene } from './scene.ts'
import type { Claims } from './survey.ts'
import { clockOf, cut, n, row, since, sum, time } from './words.ts'

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
  const use = (name: string, of: 'running' | 'waiting') =>
    n(sum(limits.filter(({ key }) => key.startsWith(`constraint:${name}:`)).map((one) => one[of])))
  return {
    '.head .note': [`${n(limits.length)} limits, ${n(full.length)} full; ${n(all)} jobs waiting`],
    '.limit > .line .grow .sub': limits.map(boundOf),
    '.limit > .line > div:nth-child(2) .sub': limits.map(slotsOf),
    '.limit > .line > .q': limits.map(({ key }) => (waiting(key) > 0 ? `${n(waiting(key))} wait` : 'no jobs waiting')),
    '.c21.below > .card:first-child tbody tr': facts.groups.map(({ id, concurrency }) => {
      const own = facts.jobs.filter(({ group }) => group === id)
      const held = n(having(facts, { group: id, status: 'running' }).length)
      return row(
        cut(id, 28),
        '',
        concurrency === null ? held : `${held} of ${n(concurrency)}`,
        `${n(counted(facts, { waitingAt: `group:${id}` }))} wait`,
        `${n(own.filter(({ status }) => status === 'queued' || status === 'running').length)} jobs`,
        /\d/.test(id) ? `{Change group ${id}}` : '',
      )
    }),
    '.c21.below > .card:last-child tbody tr': constraints.map((one) =>
      row(one.name, boundOf(one), `${use(one.name, 'running')} running, ${use(one.name, 'waiting')} waiting`, ''),
    ),
  }
}

export async function openedLimit(facts: Facts, scene: Scene, key: string): Promise<Claims> {
  const { limit, holders, waiting } = await scene.site.engine.limits.usage(key, { holders: 60, waiting: 18 })
  const waits = having(facts, { waitingAt: key })
  const groups = [...new Set([...holders, ...waiting].map(({ group }) => group))]
  const room = limit.nextRoom === null ? '' : clockOf(limit.nextRoom)
  return {
    ...(await limitsPage(facts, scene)),
    '.turns .turn': [
      ...waiting.map(({ job }) => `#${job}`),
      ...(waits.length > waiting.length ? [`${n(waits.length - waiting.length)} more`] : []),
    ],
    '.open p.note': [`${room} ${limit.fullSince === null ? '' : since(limit.fullSince)}`],
    '.share': (found) =>
      found.map((text) => {
        const group = groups.find((one) => text.startsWith(one ?? 'no group')) ?? null
        const runs = holders.filter((one) => one.group === group).length
        return `${group ?? 'no group'}${n(runs)} running, ${n(waits.filter((one) => one.group === group).length)} waiting`
      }),
    '.open tbody tr': holders.map(
      ({ job, class: name, process, group, startedAt }) =>
        `${name} #${job} | ${process ?? group ?? ''} | ${time(startedAt!)}`,
    ),
  }
}

/** The preview looks at the newest open jobs. */
const LOOKED_AT = 500

function fitting(facts: Facts): string {
  const open = facts.jobs.filter(({ status }) => ['queued', 'running', 'suspended'].includes(status))
  const fits = open.slice(0, LOOKED_AT).filter(({ class: name }) => name === 'crawl').length
  return `${n(fits)} of the ${n(Math.min(LOOKED_AT, open.length))} open jobs match`
}

export const constraintForm = async (facts: Facts, scene: Scene): Promise<Claims> => ({
  ...(await limitsPage(facts, scene)),
  '#preview': [fitting(facts)],
})
