import { decodeValue, type Encoded } from '../../core/codec/value.ts'
import { type Constraint, isAbout, limitKeyOf } from '../../core/constraint.ts'
import { hasCode, SidejobError } from '../../core/errors.ts'
import { readObject } from '../../core/readable.ts'
import type { LimitKey, NewJob } from '../../redis/new-job.ts'
import { ops, type Words } from '../../redis/ops.ts'
import type { JobRecord } from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import { objectsIn } from '../../redis/table.ts'
import type { CommitAnswer, LaneStart, Once, Ring } from '../../redis/types.ts'
import { limitsOf } from './new-job.ts'
import type { Registry } from './registry.ts'

type Known = { version: string; list: [string, Constraint][] }

const none: Known = { version: '', list: [] }

function parse(text: string | null, version = ''): Known {
  if (!text) return none
  const known = readObject<{ version: string; list: Record<string, string> }>(text)
  if (!known?.list) return { version, list: [] }
  return { version: known.version, list: objectsIn<Constraint>(known.list) }
}

const groupOf = ({
  group,
  groupConcurrency: concurrency,
}: JobRecord): { id: string; concurrency?: number } | undefined =>
  group === undefined ? undefined : { id: group, concurrency }

/** `seen`: expected version of the constraints of the job. If the job has another version, nothing changes. */
type Tagging = { group?: { id: string; concurrency?: number }; seen?: string; keyed?: boolean }

export function createConstraints(store: Store, registry: Registry) {
  let known = none

  function limitsFor(job: { queue: string; class: string; args?: Encoded }): LimitKey[] {
    if (known.list.length === 0) return []
    const matched = { ...job, args: job.args === undefined ? null : decodeValue(job.args) }
    return known.list
      .filter(([, constraint]) => isAbout(constraint, matched))
      .map(([name, constraint]) => ({
        key: limitKeyOf(name, constraint, matched),
        how: 'set',
        concurrency: constraint.concurrency,
        rate: constraint.rate,
      }))
  }

  async function tagWords(id: number, doc: JobRecord, { group = groupOf(doc), seen, keyed = true }: Tagging = {}) {
    const job = { queue: doc.queue, class: doc.class, args: doc.args }
    const found = await registry.find(job.queue, job.class)
    const limits = [
      ...limitsOf(keyed ? found : found && { ...found, keyed: undefined }, { ...job, group }),
      ...limitsFor(job),
    ]
    return ops.tag({ of: id, version: known.version, limits, group: group?.id, seen })
  }

  /** A job whose limit keys cannot be computed gets its other limits: it must not stop the jobs around it. */
  async function retagWords({ id, document }: CommitAnswer['stale'][number]): Promise<Words> {
    const seen = document.constraintsVersion ?? ''
    try {
      return await tagWords(id, document, { seen })
    } catch (error) {
      if (!hasCode(error, 'REFUSED')) throw error
      console.error(
        `sidejob: job ${id} continues without the limits of its class that have a computed key: ${error.message}`,
      )
      return tagWords(id, document, { seen, keyed: false })
    }
  }

  /** Equal jobs are stored together only if they share one array `limits`, so the array is copied only if needed. */
  function tag(job: NewJob): NewJob {
    const matching = limitsFor(job)
    const limits = matching.length ? { limits: [...(job.limits ?? []), ...matching] } : {}
    return { ...job, ...limits, constraints: known.version }
  }

  return {
    async enqueue(jobs: NewJob[], once: Once, lane?: LaneStart) {
      for (let tries = 1; ; tries++) {
        const answer = await store.enqueue(known.version ? jobs.map(tag) : jobs, once, known.version, lane)
        if (answer.stale === undefined) return answer
        if (tries === 5)
          throw new SidejobError('UNAVAILABLE', 'the constraints keep changing: try again', { retryAfter: 1 })
        known = parse(answer.stale)
      }
    },
    tagWords,
    learn(text: string | null): void {
      known = parse(text)
    },
    list: async (): Promise<Known['list']> => {
      known = parse(await store.constraints())
      return known.list
    },
    async retag({ stale, version }: Pick<CommitAnswer, 'stale' | 'version'>): Promise<Ring[]> {
      if (stale.length === 0) return []
      if (version !== known.version) known = parse(await store.constraints(), version)
      return (await store.change('', await Promise.all(stale.map(retagWords)))).rings
    },
  }
}

export type Constraints = ReturnType<typeof createConstraints>
