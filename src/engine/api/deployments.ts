import { type ClassCount, countsIn } from '../../core/class-counts.ts'
import { SidejobError } from '../../core/errors.ts'
import { iso } from '../../core/time.ts'
import { DAY } from '../../core/units.ts'
import type { Context } from '../context.ts'
import { type Deploy, deploymentsIn, keyOf, MAX_QUEUES } from '../jobs/announcement.ts'
import type { createErrors } from './errors.ts'

type QueueTexts = { queue: string; texts: string[] }

type Mark = { at: number; queues: QueueTexts[] }

type Counts = { queue: string; class: string | null } & Pick<ClassCount, 'counts' | 'took'>

const viewOf = ({ version, author, at }: Deploy) => ({
  version: version ?? null,
  author: author ?? null,
  at,
})

const dayOf = (at: number): number => Math.floor(at / DAY)

/** Counts are kept for two days, so the earliest start of a period is midnight UTC on the day before `to`. */
function periodOf(from: Mark | undefined, to: Mark): { from: number; rows: Counts[] } {
  const [last, start] = [dayOf(to.at), from && dayOf(from.at) >= dayOf(to.at) - 1 ? from : undefined]
  const first = start ? dayOf(start.at) : last - 1
  const before = new Map(start?.queues.map(({ queue, texts }) => [queue, texts]))
  const rows = to.queues.flatMap(({ queue, texts }) => {
    const days = first === last ? [last] : [first, last]
    const parts = days.map((day) => ({ day, from: day === first ? (before.get(queue) ?? []) : [], to: texts }))
    return countsIn(parts).map(({ class: name, counts, took }) => ({ queue, class: name, counts, took }))
  })
  return { from: start?.at ?? first * DAY, rows }
}

function compared(before: readonly Counts[], after: readonly Counts[]) {
  const [earlier, later] = [before, after].map(
    (rows) => new Map(rows.map((row) => [keyOf({ queue: row.queue, name: row.class ?? '' }), row])),
  )
  const only = (row?: Counts) => (row ? { counts: row.counts, took: row.took } : null)
  return [...new Set([...earlier!.keys(), ...later!.keys()])].sort().map((key) => {
    const { queue, class: name } = (earlier!.get(key) ?? later!.get(key))!
    return { queue, class: name, before: only(earlier!.get(key)), after: only(later!.get(key)) }
  })
}

export function createDeployments({ store, now }: Context, errors: Pick<ReturnType<typeof createErrors>, 'list'>) {
  const all = async () => deploymentsIn(await store.deployments())

  async function deployOf(asked?: string, at?: number) {
    const known = (await all()).sort(([, a], [, b]) => b.at - a.at)
    const found = asked === undefined ? known[0] : known.find(([of]) => of === asked)
    const id = asked ?? found?.[0] ?? ''
    if (!found) throw new SidejobError('NOT_FOUND', `there is no deployment ${id}: GET /v1/deployments lists them`)
    const { deploys = [] } = found[1]
    const i = at === undefined ? 0 : deploys.findIndex((one) => one.at === at)
    if (deploys[i]) return { id, deploys, i }
    const which = at === undefined ? 'no deploy' : `no deploy at ${iso(at)}`
    throw new SidejobError('NOT_FOUND', `deployment ${id} has ${which}: only its last 20 deploys are kept`)
  }

  const markOf = (at: number, text: string | null | undefined): Mark | undefined =>
    text ? { at, queues: JSON.parse(text) as QueueTexts[] } : undefined

  async function markNow() {
    const { queues, now: at } = await store.classes('', MAX_QUEUES, 0)
    return { at, queues }
  }

  return {
    async list() {
      const deployments = (await all()).map(([id, { at, classes, versions, deploys = [] }]) => ({
        id,
        at,
        classes: classes.length,
        version: versions?.[0]?.version ?? null,
        deploys: deploys.map(viewOf),
      }))
      return { deployments: deployments.sort((a, b) => b.at - a.at) }
    },

    async compare(of?: string, { at }: { at?: number } = {}) {
      const { id, deploys, i } = await deployOf(of, at)
      const [deploy, previous, next] = [deploys[i]!, deploys[i + 1], deploys[i - 1]]
      const known = [deploy, previous, next].flatMap((one) => one ?? [])
      const [texts, current, { errors: kinds, cursor }] = await Promise.all([
        store.deploys(
          id,
          known.map(({ at }) => at),
        ),
        next ? undefined : markNow(),
        errors.list({ details: true }),
      ])
      const marks = new Map(known.map(({ at }, n) => [at, markOf(at, texts[n])]))
      const mark = marks.get(deploy.at)
      const end = current ?? marks.get(next!.at)
      // The first deploy has no stored counts, because no class had run before it.
      const start = previous && (marks.get(previous.at) ?? { at: previous.at, queues: [] })
      const before = mark && periodOf(start, mark)
      const after = mark && end && periodOf(mark, end)
      const version = deploy.version ?? null
      return {
        deployment: id,
        ...viewOf(deploy),
        before: {
          version: previous?.version ?? null,
          from: before?.from ?? previous?.at ?? deploy.at,
          to: deploy.at,
        },
        after: { version, from: after?.from ?? deploy.at, to: next?.at ?? now() },
        isWhole: before !== undefined && after !== undefined,
        classes: before && after ? compared(before.rows, after.rows) : [],
        errors: kinds.filter(({ firstAt }) => firstAt >= deploy.at && (!next || firstAt < next.at)),
        more: cursor !== null,
      }
    },
  }
}
