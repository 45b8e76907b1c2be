import { encodedToJson } from '../../../core/codec/value.ts'
import { REDACTED } from '../../../core/redact.ts'
import type { PortView } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import { may } from '../../look.ts'
import type { Act, ActAsked } from '../../page.ts'
import { given, jsonText, linesIn, maybe } from '../../words/form.ts'
import { notRun } from '../../words/job.ts'
import { apiPath, jobLink } from '../../words/paths.ts'
import { count, many } from '../../words/text.ts'
import { typedFor } from '../../words/value-form.ts'

const FIRST = -2_147_483_648

/** Without the scope admin, only terminated jobs can be deleted. */
export const removeJob = ({ call, look }: ActAsked, job: string | number): Promise<unknown> =>
  call('DELETE', `${apiPath('jobs', String(job))}${may(look, 'admin') ? '?force=true' : ''}`)

const of = ({ params }: ActAsked): string => apiPath('jobs', params.job!)

const jsonIn = (form: FormData, name: string): string => jsonText(given(form, name), name)

const sideOf = (form: FormData, name: string): 'in' | 'out' => (given(form, name) === 'out' ? 'out' : 'in')

const portIn = (form: FormData) => ({ dir: sideOf(form, 'dir'), port: given(form, 'port') })

function portOf(asked: ActAsked): string {
  const { dir, port } = portIn(asked.form)
  return apiPath('jobs', asked.params.job!, dir, port)
}

async function portNow(
  { engine, params, form }: ActAsked,
  options: { schemas?: boolean } = {},
): Promise<PortView | undefined> {
  const { dir, port } = portIn(form)
  const ports = (await engine.jobs.get(params.job!, options))[dir]
  return Object.hasOwn(ports, port) ? ports[port] : undefined
}

/** Undefined if a part of the default is hidden, because the default then cannot be restored. */
function asItWas({ form }: ActAsked, was: PortView | undefined): Record<string, string> | undefined {
  const port = portIn(form)
  if (was?.default === undefined) return { act: 'undefault', ...port }
  const value = encodedToJson(was.default)
  return value.includes(REDACTED) ? undefined : { act: 'default', ...port, value }
}

async function prioritize(asked: ActAsked, priority: number, what: string) {
  const { engine, params, call } = asked
  const { priority: before } = await engine.jobs.get(params.job!)
  await call('PATCH', of(asked), { priority })
  return { say: `#${params.job} ${what}`, undo: { act: 'priority', priority: String(before) } }
}

type Tree = { status: string; children: Record<string, unknown> }

async function below(engine: Engine, job: string): Promise<{ statuses: string[]; more: boolean }> {
  const { more = false, ...root } = await engine.jobs.tree(job)
  const left = Object.values((root as Tree).children) as Tree[]
  const statuses: string[] = []
  for (let node = left.pop(); node; node = left.pop()) {
    statuses.push(node.status)
    left.push(...(Object.values(node.children) as Tree[]))
  }
  return { statuses, more }
}

const isEnding = (status: string): boolean => status === 'terminated' || status === 'terminating'

const belowText = (n: number, more: boolean, verb: [one: string, many: string]): string[] =>
  n === 0 ? [] : [`${more ? 'More than ' : ''}${many(n, 'job')} below it ${n === 1 ? verb[0] : verb[1]} too.`]

const ask = (verb: string, say: string): Act => ({
  scope: 'write',
  async does(asked) {
    await asked.call('POST', `${of(asked)}/${verb}`, {})
    return { say: `#${asked.params.job}: ${say}` }
  },
})

export const acts: Record<string, Act> = {
  again: {
    scope: 'write',
    async does(asked) {
      const { id } = await asked.call<{ id: number }>('POST', `${of(asked)}/copy`, { inputs: 'last' })
      return { say: `Job #${id} created with the same inputs`, link: jobLink(id) }
    },
  },
  run: {
    scope: 'write',
    async does(asked) {
      const refusal = notRun(await asked.call('POST', `${of(asked)}/run`, {}))
      return { say: `#${asked.params.job}${refusal ? ` does not run: ${refusal}` : ': a run is requested'}` }
    },
  },
  retry: ask('retry', 'queued again'),

  requeue: {
    scope: 'admin',
    confirm: ({ params }) => ({
      title: `Run #${params.job} again?`,
      text: ['This cancels the current run, so that it has no effect.'],
      verb: 'Run again',
    }),
    async does(asked) {
      const { id } = await asked.engine.jobs.get(asked.params.job!)
      await asked.call('POST', '/v1/bulk', { ids: [id], action: 'requeue' })
      return { say: `#${id}: queued again` }
    },
  },

  terminate: {
    scope: 'write',
    async confirm({ engine, params }) {
      const { class: name } = await engine.jobs.get(params.job!)
      const { statuses, more } = await below(engine, params.job!)
      const open = statuses.filter((status) => !isEnding(status)).length
      return {
        title: `Terminate ${name} #${params.job}?`,
        text: [
          'The job ends after any shutdown run. Values waiting at its ports are not read, unless you run the job again with force.',
          ...belowText(open, more, ['ends', 'end']),
        ],
        verb: more ? 'Terminate all' : open > 0 ? `Terminate ${count(open + 1)}` : 'Terminate',
      }
    },
    async does(asked) {
      await asked.call('POST', `${of(asked)}/terminate`, { recursive: true })
      return { say: `#${asked.params.job} ends` }
    },
  },

  cancel: {
    ...ask('cancel', 'cancelled'),
    confirm: ({ params }) => ({
      title: `Cancel #${params.job}?`,
      text: ['The job ends after its current run and any shutdown run. The changes of the current run are applied.'],
      verb: 'Cancel it',
    }),
  },

  remove: {
    scope: 'write',
    async confirm({ engine, params }) {
      const { statuses, more } = await below(engine, params.job!)
      return {
        title: `Delete #${params.job}?`,
        text: [
          'This deletes the state, ports, results and logs of the job, and cannot be undone.',
          ...belowText(statuses.length, more, ['is deleted', 'are deleted']),
        ],
        verb: more ? 'Delete all' : statuses.length > 0 ? `Delete ${count(statuses.length + 1)}` : 'Delete',
        type: params.job!,
      }
    },
    async does(asked) {
      const answer = await removeJob(asked, asked.params.job!)
      const isGone = (answer as { status: 'gone' | 'ending' }).status === 'gone'
      return { say: `#${asked.params.job} ${isGone ? 'deleted' : 'is being deleted'}`, to: '/jobs' }
    },
  },

  priority: {
    scope: 'write',
    does(asked) {
      const priority = Number(given(asked.form, 'priority'))
      return prioritize(asked, priority, `has priority ${priority}`)
    },
  },

  first: { scope: 'write', does: (asked) => prioritize(asked, FIRST, 'goes first') },

  write: {
    scope: 'write',
    async does(asked) {
      const value = typedFor(await portNow(asked, { schemas: true }), asked.form)
      await asked.call('POST', portOf(asked), `{"value":${value}}`)
      return { say: `Value written to ${given(asked.form, 'port')}` }
    },
  },

  take: {
    scope: 'write',
    confirm: ({ form }) => ({
      title: `Take a value from ${given(form, 'port')}?`,
      text: ['This removes the value from the port and shows it to you. No job will read it.'],
      verb: 'Take it',
    }),
    async does(asked) {
      const { values } = await asked.call<{
        values: { data: unknown }[]
      }>('POST', `${portOf(asked)}/read`, { max: 1 })
      if (values.length === 0) return { say: 'No values are waiting' }
      return { say: `Taken: ${JSON.stringify(values[0]!.data).slice(0, 300)}` }
    },
  },

  default: {
    scope: 'write',
    async does(asked) {
      const was = await portNow(asked, { schemas: true })
      const value = typedFor(was, asked.form)
      await asked.call('PUT', `${portOf(asked)}/default`, `{"value":${value}}`)
      return { say: `Default of ${given(asked.form, 'port')} set`, undo: asItWas(asked, was) }
    },
  },

  undefault: {
    scope: 'write',
    async does(asked) {
      const was = await portNow(asked)
      await asked.call('DELETE', `${portOf(asked)}/default`)
      return { say: `${given(asked.form, 'port')} has no default`, undo: asItWas(asked, was) }
    },
  },

  channels: {
    scope: 'write',
    async does(asked) {
      const { form } = asked
      const { dir, port } = portIn(form)
      const before = (await portNow(asked))?.channels ?? []
      const channels = linesIn(maybe(form, 'channels') ?? '')
      await asked.call('PUT', `${portOf(asked)}/channels`, { channels })
      const now = channels.length === 0 ? 'no channel' : many(channels.length, 'channel')
      return {
        say: dir === 'in' ? `${port} listens to ${now}` : `${port} publishes on ${now}`,
        undo: { act: 'channels', dir, port, channels: before.join('\n') },
      }
    },
  },

  connect: {
    scope: 'write',
    async does(asked) {
      const { form } = asked
      const [to, side, port] = [given(form, 'to'), sideOf(form, 'side'), given(form, 'toPort')]
      const job = /^\d+$/.test(to) ? Number(to) : to
      const { moved } = await asked.call<{
        moved: number
      }>('POST', `${portOf(asked)}/connect`, { to: [{ job, [side]: port }] })
      const link = typeof job === 'number' ? { link: jobLink(job) } : {}
      return { say: `${many(moved, 'value')} moved to ${port} of ${to}`, ...link }
    },
  },

  state: {
    scope: 'write',
    confirm: ({ form }) => ({
      title: 'Merge into the state?',
      text: [`{ "${given(form, 'field')}": ${jsonIn(form, 'value').slice(0, 300)} }`, 'Other fields do not change.'],
      verb: 'Merge',
    }),
    async does(asked) {
      const field = JSON.stringify(given(asked.form, 'field'))
      await asked.call('PATCH', `${of(asked)}/state`, `{"set":{${field}:${jsonIn(asked.form, 'value')}}}`)
      return { say: 'State changed' }
    },
  },

  takeResult: {
    ...ask('result/take', 'result taken'),
    confirm: ({ params }) => ({
      title: `Take the result of #${params.job}?`,
      text: ['This removes the result. No client can read it again.'],
      verb: 'Take it',
    }),
  },
}
