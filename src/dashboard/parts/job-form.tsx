import { encodedToJson } from '../../core/codec/value.ts'
import type { WorkerDefinition } from '../../engine/engine.ts'
import { useLook } from '../look.ts'
import { jsonText, labelsIn, maybe, numberIn, objectOf } from '../words/form.ts'
import { readSchema, sampleOf } from '../words/schema.ts'
import { valueIn } from '../words/value-form.ts'
import { Sent, useRefusal } from './act.tsx'
import { Field, Options, TextArea } from './field.tsx'
import { Icon } from './layout.tsx'
import { ValueFields } from './value-fields.tsx'

export type Named = WorkerDefinition & { queue: string; class: string }
type Port = NonNullable<WorkerDefinition['in']>[string]

const PORT = 'in.'

const OPTIONS = ['inputs', 'priority', 'group', 'wait', 'alias', 'labels'] as const

const portsOf = ({ in: ports = {} }: WorkerDefinition): [string, Port][] =>
  Object.entries(ports).filter(([name]) => name !== '*')

export function JobForm({ worker, stay, typed }: { worker: Named; stay?: boolean; typed?: URLSearchParams }) {
  const { base, here } = useLook()
  const { queue, class: name, args: schema } = worker
  const was = (field: string): string | undefined => typed?.get(field) ?? undefined
  const ports = portsOf(worker)
  const args = <ValueFields name="args" label="Args" schema={schema && encodedToJson(schema)} was={was} />
  const isOption = ports.length > 0 && !schema
  return (
    <form
      class="form"
      method="post"
      action={`${base}${here}`}
      data-act="make"
      data-keeps={stay && ''}
      data-preview={stay ? undefined : '*'}
    >
      <Sent act="make" fields={{ queue, class: name, ...(stay && { stay: 1 }) }} />
      {ports.map(([name, { schema, default: otherwise }]) => (
        <ValueFields
          name={`${PORT}${name}`}
          label={name}
          schema={schema && encodedToJson(schema)}
          more={otherwise === undefined ? ', required' : undefined}
          otherwise={otherwise && encodedToJson(otherwise)}
          path={name}
          was={was}
        />
      ))}
      {!isOption && args}
      <Options
        title={`Options: ${isOption ? 'args' : 'inputs'}, priority, group, delay, alias, labels`}
        open={[...OPTIONS, ...(isOption ? ['args'] : [])].some(was)}
      >
        {isOption ? (
          args
        ) : (
          <TextArea name="inputs" label="Inputs" note={'JSON: { "port": [values] }'} rows={2} value={was('inputs')} />
        )}
        <div class="cronf">
          <Field name="priority" label="Priority" type="number" value={was('priority')} />
          <Field name="group" label="Group" value={was('group')} />
          <Field name="wait" label="Delay" placeholder="10m" value={was('wait')} />
          <Field name="alias" label="Alias" value={was('alias')} />
        </div>
        <TextArea name="labels" label="Labels" note="name=value, one per line" rows={2} value={was('labels')} />
      </Options>
      <CreateJob />
    </form>
  )
}

export function CreateJob({ kind = 'btn primary', text = 'Create job' }: { kind?: string; text?: string }) {
  const off = useRefusal('write')
  return (
    <button class={kind} type="submit" disabled={off !== undefined} title={off}>
      <Icon name="play" size={14} />
      {text}
    </button>
  )
}

export function jobBody(form: Pick<FormData, 'get'>, worker: Named, isDraft = false): string {
  const at = (field: string) => form.get(field) as string | null
  function jsonOf(field: string, { schema, default: otherwise }: Port): string | undefined {
    const known = readSchema(schema && encodedToJson(schema))
    const sample = otherwise === undefined ? sampleOf(known) : encodedToJson(otherwise)
    return valueIn(known, field, { at }) ?? (isDraft ? sample : undefined)
  }
  const inputs = portsOf(worker).flatMap(([name, port]) => {
    const value = jsonOf(`${PORT}${name}`, port)
    return value === undefined ? [] : [[name, `[${value}]`]]
  })
  const [more, priority, group, wait, alias, labels] = OPTIONS.map((name) => maybe(form, name))
  const hasArgs = worker.args !== undefined || maybe(form, 'args') !== undefined
  return objectOf({
    queue: JSON.stringify(worker.queue),
    class: JSON.stringify(worker.class),
    args: hasArgs ? jsonOf('args', { schema: worker.args }) : undefined,
    inputs: more ? jsonText(more, 'inputs') : inputs.length > 0 ? objectOf(Object.fromEntries(inputs)) : undefined,
    priority: priority && String(numberIn(priority, 'priority')),
    group: group && JSON.stringify({ id: group }),
    wait: wait && JSON.stringify(wait),
    alias: alias && JSON.stringify([alias]),
    labels: labels && JSON.stringify(labelsIn(labels)),
  })
}
