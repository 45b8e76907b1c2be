import type { WaitingJob, WaitingQuery } from '../../core/waiting.ts'
import { type JobRecord, statusOf } from '../../redis/record.ts'
import type { ClaimedJob } from '../../redis/types.ts'
import type { Context } from '../context.ts'
import type { Ref } from '../engine.ts'
import { deploymentsIn, keyOf } from '../jobs/announcement.ts'
import { timeoutOf } from '../jobs/registry.ts'
import { stepPage } from '../run/reader.ts'
import { shownSnapshot } from '../run/shown.ts'
import { runAtOf, snapshotOf } from '../run/snapshot.ts'

const LEASE = 45_000

const begun = (id: number, record: JobRecord, at: number): JobRecord => ({
  ...record,
  token: `${id}.${record.runNumber ?? 1}.rehearsal`,
  previousRanAt: record.ranAt,
  ranAt: at,
  leaseUntil: at + LEASE,
})

export function createWaiting({ store, registry, now }: Context) {
  async function announced(): Promise<(record: JobRecord) => string[]> {
    const all = deploymentsIn(await store.deployments()).map(([id, { classes }]) => [id, new Set(classes)] as const)
    return ({ queue, class: name }) => all.flatMap(([id, classes]) => (classes.has(keyOf({ queue, name })) ? [id] : []))
  }

  /** The record of an ended child has the paths to redact in its result. */
  async function endedChildrenOf(jobs: readonly ClaimedJob[]) {
    const ids = jobs.flatMap(({ family }) => family.map(({ id }) => id)).toSorted((a, b) => b - a)
    const records = new Map<number, JobRecord>()
    for (let before: string | null | undefined; ids.length > 0 && before !== null; ) {
      const page = await store.list({ mode: 'ids', name: ids.join(','), before, limit: ids.length })
      for (const { id, document } of page.jobs) records.set(id, document)
      before = page.cursor
    }
    return records
  }

  async function shown(
    job: ClaimedJob,
    endedChildren: ReadonlyMap<number, JobRecord>,
  ): Promise<Omit<WaitingJob, 'servedBy'>> {
    const { id, document, fault } = job
    const found = await registry.find(document.queue, document.class)
    const claimed = { ...job, document: begun(id, document, Math.max(now(), runAtOf(document) ?? 0)) }
    const { snapshot, masked } = shownSnapshot(snapshotOf(claimed, timeoutOf(found)), document, endedChildren)
    return {
      status: statusOf(document),
      snapshot,
      masked,
      pinnedTo: document.pinnedTo,
      fault: fault?.message,
    }
  }

  const idOf = async (job: Ref) => (await store.inspect(job)).id

  return {
    async list({ deployment, cursor, limit = 100, ...filter }: WaitingQuery) {
      const [deploymentsOf, page] = await Promise.all([
        announced(),
        store.list({ ...filter, mode: 'all', status: 'queued,suspended', waits: 'function', before: cursor, limit }),
      ])
      const asked = page.jobs.filter(
        ({ document }) => deployment === undefined || deploymentsOf(document).includes(deployment),
      )
      if (asked.length === 0) return { jobs: [], cursor: page.cursor }
      const ids = asked.map(({ id }) => id)
      const { jobs, seen } = await store.snapshots(ids)
      const endedChildren = await endedChildrenOf(jobs)
      const servedBy = async ({ document }: ClaimedJob) => {
        const { push, pull } = (await registry.find(document.queue, document.class))?.definition ?? {}
        return push || pull ? null : deploymentsOf(document)
      }
      return {
        jobs: await Promise.all(
          jobs.map(async (job) => ({ ...(await shown(job, endedChildren)), servedBy: await servedBy(job) })),
        ),
        cursor: seen < ids.length ? String(ids[seen - 1]) : page.cursor,
      }
    },

    steps: async (job: Ref, cursor: string = '0') => stepPage(store, await idOf(job), cursor),

    children: async (job: Ref, cursor: string = '0') => store.children(await idOf(job), cursor),
  }
}
