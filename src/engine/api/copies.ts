import type { Encoded } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import type { LabelsText } from '../../core/labels.ts'
import { limits } from '../../core/limits.ts'
import type { Retry } from '../../core/retry.ts'
import type { JobRecord } from '../../redis/record.ts'
import type { Context } from '../context.ts'
import type { Call, JobInput, Ref } from '../engine.ts'
import { factsOf } from '../run/job-facts.ts'
import { missingKeyOf } from '../run/shown.ts'
import type { Jobs } from './jobs.ts'

const given = <T extends Partial<JobInput>>(input: T): T =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined && value !== null)) as T

function inputLike(document: JobRecord, now: number): JobInput {
  const { retry, timeout, keepResult, retain, history, tag } = factsOf(document, { now })
  const { group, groupConcurrency: concurrency } = document
  return given({
    queue: document.queue,
    class: document.class,
    args: document.args,
    priority: document.priority,
    labels: document.labels as LabelsText | undefined,
    group: group === undefined ? undefined : { id: group, concurrency },
    ...({ retry: retry as Retry, timeout, keepResult, retain, history, tag } as Partial<JobInput>),
  })
}

const needsKey = (job: string, what: string): SidejobError =>
  new SidejobError(
    'REFUSED',
    `the ${what} of job ${job} cannot be decrypted: add the key that encrypted them to SIDEJOB_ENCRYPTION_KEY`,
  )

export function createCopies({ store, now }: Context, { enqueue }: Pick<Jobs, 'enqueue'>) {
  async function lastInputs(id: number, { inputsKept }: JobRecord, asked: boolean): Promise<JobInput['inputs']> {
    const kept = inputsKept === undefined ? null : await store.keptInputs(id)
    const values = Object.values(kept ?? {}).flat()
    if (values.some(missingKeyOf)) throw needsKey(String(id), 'inputs')
    if (values.length > 0) return kept!
    if (!asked) return undefined
    const why = kept
      ? `its last run read more than ${limits.keptInputs.most} bytes, the maximum`
      : 'no run has read inputs since the history of the job began'
    throw new SidejobError('REFUSED', `the last inputs of job ${id} were not kept: ${why}`)
  }

  return {
    /** `inputs: 'last'` (the default) repeats the inputs of the last run if they were recorded. */
    async copy(
      job: Ref,
      { args, inputs }: { args?: Encoded; inputs?: Record<string, Encoded[]> | 'last' },
      call?: Call,
    ) {
      const { id, document } = await store.inspect(job)
      if (args === undefined && missingKeyOf(document.args)) throw needsKey(job, 'args')
      const first = typeof inputs === 'object' ? inputs : await lastInputs(id, document, inputs === 'last')
      const { jobs } = await enqueue([{ ...inputLike(document, now()), ...given({ args, inputs: first }) }], call)
      return jobs[0]!
    },
  }
}
