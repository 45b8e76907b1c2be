import { encodedToJson } from '../../core/codec/value.ts'
import { missing } from '../../core/errors.ts'
import { isId } from '../../core/job.ts'
import type { JobView, WorkerDefinition } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import type { Act } from '../page.ts'
import { page } from '../page.ts'
import { JobForm, jobBody } from '../parts/job-form.tsx'
import { Card, Head } from '../parts/layout.tsx'
import { given, jsonText, maybe } from '../words/form.ts'
import { jobLink } from '../words/paths.ts'

type NewJobData = {
  workers: ({ queue: string; class: string } & WorkerDefinition)[]
  from?: Pick<JobView, 'id' | 'queue' | 'class' | 'args' | 'group' | 'priority' | 'labels'>
  queue?: string
  class?: string
}

async function bodyIn(form: FormData, engine: Engine): Promise<string> {
  const json = maybe(form, 'json')
  if (json !== undefined) return jsonText(json, 'body')
  const [queue, name] = [given(form, 'queue'), given(form, 'class')]
  const { workers } = await engine.workers.list()
  return jobBody(
    form,
    workers.find((one) => one.queue === queue && one.class === name),
  )
}

async function likeOf(engine: Engine, from: string): Promise<NewJobData['from']> {
  const alive = await engine.jobs.get(from).catch((error) => {
    if (engine.history.isOn && isId(from)) return missing(error)
    throw error
  })
  return alive ?? (await engine.history.get(from)).ends[0]
}

export const make: Act = {
  scope: 'write',
  async does({ form, call, engine }) {
    const { id } = (await call('POST', '/v1/jobs', await bodyIn(form, engine))) as { id: number }
    return {
      say: `Job #${id} created`,
      to: form.get('stay') ? undefined : `/jobs/${id}`,
      link: jobLink(id),
    }
  },
}

export const newJob = page<NewJobData>({
  path: '/jobs/new',
  nav: 'jobs',
  every: 0,
  async load({ engine, query }) {
    const from = query.get('from')
    const [{ workers }, like] = await Promise.all([engine.workers.list(), from ? likeOf(engine, from) : undefined])
    return {
      workers,
      from: like,
      queue: like?.queue ?? query.get('queue') ?? undefined,
      class: like?.class ?? query.get('class') ?? undefined,
    }
  },
  title: ({ from }) => (from ? `Duplicate #${from.id}` : 'New job'),
  crumbs: ({ from }) => [{ name: from ? `Duplicate #${from.id}` : 'New job' }],
  View: ({ data: { workers, from, queue, class: name } }) => (
    <>
      <Head title={from ? `Duplicate #${from.id}` : 'New job'} />
      <Card kind="narrow">
        <JobForm
          worker={workers.find((one) => one.queue === queue && one.class === name)}
          queue={queue}
          name={name}
          like={
            from
              ? {
                  args: from.args === null ? undefined : encodedToJson(from.args),
                  group: from.group,
                  priority: from.priority,
                  labels: Object.keys(from.labels).length > 0 ? from.labels : undefined,
                }
              : undefined
          }
          classes={workers}
        />
      </Card>
    </>
  ),
  acts: { make },
})
