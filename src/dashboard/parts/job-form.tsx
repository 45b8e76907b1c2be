import { encodedToJson } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { readObject } from '../../core/readable.ts'
import type { WorkerDefinition } from '../../engine/engine.ts'
import { jsonText, labelsIn, maybe, numberIn, objectOf } from '../words/form.ts'
import { isFlow } from '../words/paths.ts'
import { readSchema, sampleOf } from '../words/schema.ts'
import { cut, many } from '../words/text.ts'
import { valueIn } from '../words/value-form.ts'
import { Field, Options, TextArea } from './field.tsx'
import { Form } from './form.tsx'
import { Icon } from './layout.tsx'
import { ValueFields } from './value-fields.tsx'

export type Named = WorkerDefinition & { queue: string; class: string }
type Port = NonNullable<WorkerDefinition['in']>[string]

export const PORT = 'in.'
const GRAPH = '__graph'

/** The title of the options shows the values of `SHORT`. */
const [SHORT, LONG] = [['priority', 'group'] as const, ['inputs', 'wait', 'alias', 'labels'] as const]

export const portsOf = ({ in: ports = {} }: WorkerDefinition): [string, Port][] =>
  Object.entries(ports).filter(([name]) => name !== '*')

/** A port with a channel is optional, because its values may come from the channel. */
export const isRequired = ({ default: otherwise, channels = [] }: Port): boolean =>
  otherwise === undefined && channels.length === 0

export function JobForm({ worker, stay, typed }: { worker: Named; stay?: boolean; typed?: URLSearchParams }) {
  const { queue, class: name, args: schema } = worker
  const was = (field: string): string | undefined => typed?.get(field) ?? undefined
  const withValue = (field: string) => (was(field) ? `${field} ${cut(was(field)!)}` : field)
  const ports = portsOf(worker)
  const args = <ValueFields name="args" label="Args" schema={schema && encodedToJson(schema)} was={was} />
  const isOption = ports.length > 0 && !schema
  const isLater = was('later') !== undefined
  const inputs = readObject<Record<string, unknown[]>>(was('inputs')) ?? {}
  function statusOf(name: string, port: Port): { more?: string; isOptional?: boolean } {
    const length = inputs[name]?.length ?? 0
    if (length > 0) return { more: `; ${many(length, 'value')}, under Options`, isOptional: true }
    return isRequired(port) && !isLater ? { more: ', required' } : { isOptional: true }
  }
  const canWait = ports.some(([, port]) => isRequired(port))
  return (
    <Form
      act="make"
      scope="write"
      press={<Create>{isFlow(worker) ? 'Create flow' : 'Create job'}</Create>}
      fields={{ queue, class: name, ...(stay && { stay: '1' }) }}
      preview={stay ? undefined : ['*']}
      isKept={stay}
    >
      {ports.map(([name, port]) => (
        <ValueFields
          name={`${PORT}${name}`}
          label={name === GRAPH ? 'Graph' : name}
          schema={port.schema && encodedToJson(port.schema)}
          {...statusOf(name, port)}
          otherwise={port.default && encodedToJson(port.default)}
          path={name}
          was={was}
        />
      ))}
      {!isOption && args}
      <Options
        title={`Options: ${[isOption ? 'args' : 'inputs', ...SHORT.map(withValue), 'delay', 'alias', 'labels'].join(', ')}`}
        open={[...LONG, 'later', ...(isOption ? ['args'] : [])].some(was)}
      >
        {isOption && args}
        {(!isOption || was('inputs')) && (
          <TextArea name="inputs" label="Inputs" note={'JSON: { "port": [values] }'} rows={2} value={was('inputs')} />
        )}
        <div class="cronf">
          <Field name="priority" label="Priority" type="number" value={was('priority')} />
          <Field name="group" label="Group" value={was('group')} />
          <Field name="wait" label="Delay" placeholder="10m" value={was('wait')} />
          <Field name="alias" label="Alias" value={was('alias')} />
        </div>
        <TextArea name="labels" label="Labels" note="name=value, one per line" rows={2} value={was('labels')} />
        {canWait && (
          <label class="rowf">
            <input type="checkbox" class="check" name="later" checked={isLater} /> Write required inputs later
          </label>
        )}
      </Options>
    </Form>
  )
}

export const Create = ({ children }: { children: string }) => (
  <>
    <Icon name="play" size={14} />
    {children}
  </>
)

const refused = (port: string, expected: string): SidejobError =>
  new SidejobError('BAD_REQUEST', `inputs.${port}: expected ${expected}`, { path: ['inputs', port] })

type Typed = Pick<FormData, 'get'>

/** `hasSamples` fills empty fields with examples. */
export function jobBody(form: Typed, worker: Named, hasSamples = false): string {
  const isLater = maybe(form, 'later') !== undefined
  const at = (field: string) => form.get(field) as string | null
  function jsonOf(field: string, { schema, default: otherwise }: Port): string | undefined {
    const known = readSchema(schema && encodedToJson(schema))
    const sample = otherwise === undefined ? sampleOf(known) : encodedToJson(otherwise)
    return valueIn(known, field, { at }) ?? (hasSamples ? sample : undefined)
  }
  const [priority, group, more, wait, alias, labels] = [...SHORT, ...LONG].map((name) => maybe(form, name))
  const inputs = portsOf(worker).flatMap(([name, port]) => {
    const value = jsonOf(`${PORT}${name}`, port)
    if (more && value !== undefined && !hasSamples)
      throw refused(name, 'a value in this field or in Inputs under Options, but not in both')
    if (value !== undefined) return [[name, `[${value}]`]]
    return isRequired(port) && !isLater ? [[name, '[]']] : []
  })
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

/** The API accepts a job without inputs. The form does so only if the user chooses to write inputs later. */
export function refuseMissing(form: Typed, body: string, worker: Named): string {
  const { inputs } = JSON.parse(body) as { inputs?: Record<string, unknown[]> }
  const missing = portsOf(worker).find(([name, port]) => isRequired(port) && !inputs?.[name]?.length)
  if (!missing || maybe(form, 'later') !== undefined) return body
  throw refused(missing[0], 'a value. To write it later, select “Write required inputs later” under Options')
}
