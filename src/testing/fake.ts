import { parseJson } from '../core/codec/json.ts'
import { codes, SidejobError } from '../core/errors.ts'
import { setFake } from '../core/fake.ts'
import { check } from '../core/issues.ts'
import { closedIn, jobInputs } from '../core/schemas.ts'
import type { Worker } from '../core/worker.ts'
import { newJobs } from '../engine/jobs/new-job.ts'
import { createRegistry } from '../engine/jobs/registry.ts'

export type FakeJob = { id: number; queue: string; class: string; args?: unknown; [option: string]: unknown }

const closedInputs = closedIn(jobInputs)

const failure = (code: string, message: string, status: number) =>
  Response.json({ error: { code, message } }, { status })

/**
 * Until `restore()`, `jobs.client(env)` of every Worker in this process checks new jobs and adds them to `made`. No job
 * runs. All calls except `jobs.enqueue` fail.
 *
 * @example
 * const jobs = fakeJobs()
 * await worker.fetch(new Request('http://w/orders', { method: 'POST' }), env, ctx)
 * expect(jobs.made).toMatchObject([{ class: 'order', args: { amount: 1 } }])
 * jobs.restore()
 */
export function fakeJobs() {
  const made: FakeJob[] = []

  function enqueue(functions: readonly Worker[], text: string): Response {
    const registry = createRegistry({ store: {} as never, workers: functions })
    const read = check(jobInputs, parseJson(text, closedInputs))
    const inputs = Array.isArray(read) ? read : [read]
    const find = ({ queue, class: name }: { queue: string; class: string }) => {
      const found = registry.local(queue, name)
      if (!found) throw new SidejobError('REFUSED', `class ${name} is not registered for queue ${queue}`)
      return found
    }
    newJobs(inputs, find, Date.now())
    const asked = [JSON.parse(text)].flat() as FakeJob[]
    const jobs = asked.map((job) => ({ ...job, queue: job.queue ?? 'default', id: made.push(job) }))
    made.splice(-jobs.length, jobs.length, ...jobs)
    const answers = jobs.map(({ id }) => ({ id, status: 'queued' }))
    return Response.json(Array.isArray(read) ? { jobs: answers } : answers[0], { status: 201 })
  }

  setFake((functions) => async (request) => {
    const { pathname } = new URL(request.url)
    if (request.method !== 'POST' || pathname !== '/v1/jobs')
      return failure(
        'NOT_FAKED',
        `fakeJobs supports only jobs.enqueue, got ${request.method} ${pathname}: test this call with startDev of sidejob/dev`,
        501,
      )
    try {
      return enqueue(functions, await request.text())
    } catch (error) {
      if (!(error instanceof SidejobError)) throw error
      return failure(error.code, error.message, codes[error.code])
    }
  })

  return {
    made,
    restore: () => setFake(undefined),
  }
}
