import { decodeValue, encodedToJson } from '../../../core/codec/value.ts'
import type { JobView } from '../../../engine/engine.ts'
import type { Act, ActAsked } from '../../page.ts'
import { ruleIn } from '../../words/cron.ts'
import { given, jsonText, maybe, objectOf } from '../../words/form.ts'
import { notRun } from '../../words/job.ts'
import { apiPath, jobLink } from '../../words/paths.ts'
import { clock, many } from '../../words/text.ts'

type Resumed = { next: string[]; missed: { made: string; count: number; more: boolean } | null }

const of = ({ form }: ActAsked): string => apiPath('schedules', given(form, 'job'))

export function fieldsOf(
  alias: string,
  { queue, class: name, repeat, args }: JobView,
  hasArgs = false,
): Record<string, string> | undefined {
  const { cron, tz, missed, ...more } = (repeat ? decodeValue(repeat) : {}) as Record<string, unknown>
  if (typeof cron !== 'string' || Object.keys(more).length > 0 || (hasArgs && args === null)) return undefined
  return {
    act: 'set',
    alias,
    queue,
    class: name,
    cron,
    ...(tz ? { tz: String(tz) } : {}),
    ...(missed ? { missed: String(missed) } : {}),
    ...(args === null ? {} : { args: encodedToJson(args) }),
  }
}

export const acts: Record<string, Act> = {
  run: {
    scope: 'write',
    async does(asked) {
      const refusal = notRun(await asked.call('POST', `${of(asked)}/run`, {}))
      const job = given(asked.form, 'job')
      const say = refusal ? `does not run: ${refusal}` : 'runs now; its schedule does not change'
      return { say: `#${job} ${say}`, link: jobLink(job) }
    },
  },
  pause: {
    scope: 'write',
    async does(asked) {
      await asked.call('POST', `${of(asked)}/pause`, {})
      return { say: 'Schedule paused', undo: { act: 'resume', job: given(asked.form, 'job') } }
    },
  },
  resume: {
    scope: 'write',
    async does(asked) {
      const { next, missed } = await asked.call<Resumed>('POST', `${of(asked)}/resume`, {})
      const when = next[0] ? `; next run at ${clock(Date.parse(next[0]), asked.look.zone)}` : ''
      const passed =
        missed?.made === 'none' ? `; ${missed.more ? 'more than ' : ''}${many(missed.count, 'slot')} skipped` : ''
      return { say: `Schedule resumed${when}${passed}`, undo: { act: 'pause', job: given(asked.form, 'job') } }
    },
  },
  stop: {
    scope: 'write',
    confirm: ({ form }) => ({
      title: `Stop repeating #${given(form, 'job')}?`,
      text: ['This stops the schedule and releases its aliases. The job remains, but does not repeat.'],
      verb: 'Stop repeating',
    }),
    async does(asked) {
      await asked.call('DELETE', of(asked))
      return { say: `#${given(asked.form, 'job')} no longer repeats` }
    },
  },
  set: {
    scope: 'write',
    async does({ form, call, engine }) {
      const [tz, missed, args] = ['tz', 'missed', 'args'].map((name) => maybe(form, name))
      const body = objectOf({
        queue: JSON.stringify(given(form, 'queue')),
        class: JSON.stringify(given(form, 'class')),
        repeat: JSON.stringify({ ...Object(ruleIn(given(form, 'cron'), tz).source), ...(missed ? { missed } : {}) }),
        args: args && jsonText(args, 'args'),
      })
      const alias = given(form, 'alias')
      const was = await engine.jobs.get(alias).catch(() => undefined)
      const { job } = await call<{ job: number }>('PUT', apiPath('schedules', alias), body)
      const undo = was ? fieldsOf(alias, was, args !== undefined) : { act: 'stop', job: String(job), sure: 'yes' }
      return { say: `Schedule ${alias} saved`, undo, to: '/schedules', link: jobLink(job) }
    },
  },
}
