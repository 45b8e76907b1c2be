// A job like another.

import type { Encoded } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import type { Retry } from '../../core/retry.ts'
import type { JobRecord } from '../../redis/record.ts'
import type { Context } from '../context.ts'
import type { Engine, JobInput } from '../engine.ts'
import { factsOf } from '../run/job-facts.ts'

const given = (input: JobInput): JobInput =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined && value !== null)) as JobInput

/** What is asked for when a job is to be made like this one: not its names, its place in a family, nor its schedule. */
function inputLike(document: JobRecord, now: number): JobInput {
  const { retry, timeout, keepResult, retain, history, tag } = factsOf(document, { now })
  const { group, groupConcurrency: concurrency } = document
  return given({
    queue: document.queue,
    class: document.class,
    args: document.args as Encoded | undefined,
    priority: document.priority,
    group: group === undefined ? undefined : { id: group, ...(concurrency === undefined ? {} : { concurrency }) },
    ...({ retry: retry as Retry, timeout, keepResult, retain, history, tag } as Partial<JobInput>),
  })
}

export function createCopies({ store, now }: Context, { enqueue }: Pick<Engine, 'enqueue'>): Pick<Engine, 'copy'> {
  return {
    async copy(job, changes, call) {
      const { document } = await store.inspect(job)
      if (changes.args === undefined && document.args?.startsWith('{"$sealed":'))
        throw new SidejobError(
          'REFUSED',
          `job ${job}: expected a key in SIDEJOB_ENCRYPTION_KEY that opens its args, got none`,
        )
      const { jobs } = await enqueue([{ ...inputLike(document, now()), ...changes }], call)
      return jobs[0]!
    },
  }
}
