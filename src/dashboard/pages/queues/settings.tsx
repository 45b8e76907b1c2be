import { mapValues } from '../../../core/map-values.ts'
import type { PatchedQueue, QueueDetail } from '../../../engine/engine.ts'
import type { Act } from '../../page.ts'
import { Hidden } from '../../parts/act.tsx'
import { Field, Select } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Card } from '../../parts/layout.tsx'
import { given, maybe, numberIn } from '../../words/form.ts'
import { apiPath } from '../../words/paths.ts'

const nameIn = ({ form, params }: Parameters<Act['does']>[0]): string => params.queue ?? given(form, 'queue')

const pausing = (paused: boolean): Act => ({
  scope: 'admin',
  async does(asked) {
    const queue = nameIn(asked)
    await asked.call('PATCH', apiPath('queues', queue), { paused })
    const undo = { act: paused ? 'resume' : 'pause', queue }
    return { say: paused ? `Queue ${queue} was paused. Current runs continue` : `Queue ${queue} was resumed`, undo }
  },
})

const settings = ['lanes', 'batch', 'ageing', 'mode'] as const

/**
 * Sends only changed fields, so that concurrent changes to other fields are kept. An empty number restores the
 * default.
 */
const changed = (form: FormData): [(typeof settings)[number], string | number | null][] =>
  settings.flatMap((name) => {
    const text = maybe(form, name)
    if (!form.has(name) || (form.has(`was_${name}`) && text === maybe(form, `was_${name}`))) return []
    const isNumber = name === 'lanes' || name === 'batch'
    return [[name, isNumber && text !== undefined ? numberIn(text, name) : (text ?? null)]]
  })

const back = (was: NonNullable<PatchedQueue['was']>): Record<string, string> => ({
  act: 'change',
  sure: 'yes',
  ...mapValues(was, (value, name) => (value === null ? '' : `${value}${name === 'ageing' ? 's' : ''}`)),
})

const change: Act = {
  scope: 'admin',
  confirm({ form, params }) {
    const mode = maybe(form, 'mode')
    if (!changed(form).some(([name]) => name === 'mode')) return undefined
    const text =
      mode === 'pull'
        ? 'Lanes will stop serving this queue. Only pull workers will receive its jobs.'
        : 'Lanes will serve this queue. Pull workers will receive only jobs of pull classes and jobs with a tag.'
    return { title: `Make queue ${params.queue} a ${mode} queue?`, text: [text], verb: 'Change mode' }
  },
  async does({ form, params, call }) {
    const patch = Object.fromEntries(changed(form))
    const names = Object.keys(patch)
    if (names.length === 0) return { say: `Queue ${params.queue} was not changed` }
    const { was } = await call<PatchedQueue>('PATCH', `${apiPath('queues', params.queue!)}?details=true`, patch)
    return { say: `Queue ${params.queue} was changed: ${names.join(', ')}`, undo: back(was!) }
  },
}

export const acts = { pause: pausing(true), resume: pausing(false), change }

export function Settings({ queue }: { queue: QueueDetail }) {
  const { maxLanes, batch, mode, ageing } = queue
  const is = {
    lanes: String(maxLanes),
    batch: String(batch),
    ageing: ageing === null ? '' : `${ageing / 1_000}s`,
    mode,
  }
  return (
    <Card title="Settings">
      <Form act="change" scope="admin" press="Save" button="">
        <Hidden of={settings.map((name) => [`was_${name}`, is[name]])} />
        <Select
          name="mode"
          label="Mode"
          note="push: lanes run functions, and pull workers claim jobs of pull classes; pull: pull workers claim all jobs"
          options={['push', 'pull']}
          value={mode}
        />
        <Field
          name="lanes"
          label="Max lanes"
          type="number"
          value={is.lanes}
          note="concurrent invocations; empty: default"
        />
        <Field name="batch" label="Batch" type="number" value={is.batch} note="jobs per batch; default 100" />
        <Field
          name="ageing"
          label="Ageing"
          value={is.ageing}
          note="waiting time that counts as one step of priority"
          placeholder="none, or 1m"
        />
      </Form>
    </Card>
  )
}
