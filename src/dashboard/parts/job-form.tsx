import { encodedToJson } from '../../core/codec/value.ts'
import type { Labels } from '../../core/labels.ts'
import type { WorkerDefinition, WorkerView } from '../../engine/engine.ts'
import { useLook } from '../look.ts'
import { given, jsonText, labelsIn, labelWords, maybe, numberIn, objectOf } from '../words/form.ts'
import { ofClass } from '../words/paths.ts'
import { isBuiltIn } from '../words/queue.ts'
import { readSchema, sampleOf, wordsOf } from '../words/schema.ts'
import { cut } from '../words/text.ts'
import { valueIn } from '../words/value-form.ts'
import { Sent, useRefusal } from './act.tsx'
import { Field, Options, TextArea } from './field.tsx'
import { Icon, To } from './layout.tsx'
import { ValueFields } from './value-fields.tsx'

type Ports = NonNullable<WorkerDefinition['in']>
type Port = Ports[string]

export const PORT = 'in.'

export const OPTIONS = ['args', 'inputs', 'priority', 'group', 'wait', 'alias', 'labels'] as const

const isNamed = ([name]: [string, unknown]): boolean => name !== '*'

function PortField({ name, port, was }: { name: string; port: Port } & Was) {
  const { schema, default: otherwise } = port
  return (
    <ValueFields
      name={`${PORT}${name}`}
      label={name}
      schema={schema && encodedToJson(schema)}
      otherwise={otherwise && encodedToJson(otherwise)}
      more={otherwise === undefined ? '' : `; default ${cut(encodedToJson(otherwise), 30)}`}
      path={name}
      was={was}
    />
  )
}

type Like = { args?: string; group?: string | null; priority?: number; labels?: Labels }
type JobFormProps = {
  worker?: WorkerDefinition
  queue?: string
  name?: string
  like?: Like
  classes: readonly Pick<WorkerView, 'queue' | 'class'>[]
  stay?: boolean
  typed?: URLSearchParams
}

export function ClassFields({ queue, name, classes }: Pick<JobFormProps, 'queue' | 'name' | 'classes'>) {
  return (
    <>
      <Field name="queue" label="Queue" value={queue ?? 'default'} required mono />
      <Field name="class" label="Class" value={name} required mono list="classes" />
      <datalist id="classes">
        {classes.map((one) => (
          <option value={one.class}>{`${one.queue}/${one.class}`}</option>
        ))}
      </datalist>
    </>
  )
}

export function MakeIt({ fills }: { fills?: boolean }) {
  const off = useRefusal('write')
  return (
    <div class="row goes">
      <button class="btn primary" type="submit" disabled={off !== undefined} title={off}>
        <Icon name="play" size={14} />
        Create job
      </button>
      {fills && (
        <button class="btn" type="button" data-fill="" disabled title="this tab has not created a job yet">
          Fill in the last input
        </button>
      )}
    </div>
  )
}

const KNOWN = 24

function OtherClasses({ queue = 'default', name, classes }: Pick<JobFormProps, 'queue' | 'name' | 'classes'>) {
  const others = classes.filter((one) => (name ? one.class === name : !isBuiltIn(one.queue)))
  return (
    <p class="note">
      {name && `No class "${cut(name, 40)}" in queue ${cut(queue, 40)}. `}
      {others.slice(0, KNOWN).map((one) => (
        <>
          <To kind="btn small" to={`/jobs/new?${ofClass(one.queue, one.class)}`}>
            {name ? `Use queue ${one.queue}` : `${one.queue}/${one.class}`}
          </To>{' '}
        </>
      ))}
    </p>
  )
}

type Was = { was: (field: string) => string | undefined }

function Values({ worker, like, was }: Pick<JobFormProps, 'worker' | 'like'> & Was) {
  const schema = readSchema(worker?.args && encodedToJson(worker.args))
  return (
    <>
      {Object.entries(worker?.in ?? {})
        .filter(isNamed)
        .map(([name, port]) => (
          <PortField name={name} port={port} was={was} />
        ))}
      <TextArea
        name="args"
        label="Args"
        note={schema ? `JSON: ${wordsOf(schema)}` : 'JSON'}
        placeholder={schema && sampleOf(schema)}
        rows={2}
        value={like?.args ?? was('args')}
      />
    </>
  )
}

export function JobForm({ worker, queue, name, like, classes, stay, typed = new URLSearchParams() }: JobFormProps) {
  const { base, here } = useLook()
  const was = (field: string): string | undefined => typed.get(field) ?? undefined
  return (
    <form
      class="form"
      method="post"
      action={`${base}${here}`}
      data-act="make"
      data-try={stay && `${queue}/${name}`}
      data-preview={stay ? undefined : 'queue class'}
    >
      <Sent act="make" fields={stay ? { queue: queue!, class: name!, stay: 1 } : undefined} />
      {!stay && (
        <div class="cronf">
          <ClassFields queue={queue} name={name} classes={classes} />
        </div>
      )}
      <div class="stack" id={stay ? undefined : 'preview'} data-island={stay ? undefined : ''}>
        {!stay && !worker && <OtherClasses queue={queue} name={name} classes={classes} />}
        <Values worker={worker} like={like} was={was} />
      </div>
      <Options
        title="Options: inputs, priority, group, delay, alias, labels"
        open={like !== undefined || OPTIONS.some((field) => field !== 'args' && typed.has(field))}
      >
        <TextArea
          name="inputs"
          label="More inputs"
          note={'JSON: { "port": [values] }'}
          rows={2}
          value={was('inputs')}
        />
        <div class="cronf">
          <Field
            name="priority"
            label="Priority"
            type="number"
            value={like?.priority === undefined ? was('priority') : String(like.priority)}
          />
          <Field name="group" label="Group" value={like?.group ?? was('group')} />
          <Field name="wait" label="Delay" placeholder="10m" value={was('wait')} />
          <Field name="alias" label="Alias" value={was('alias')} />
        </div>
        <TextArea
          name="labels"
          label="Labels"
          note="name=value, one per line"
          rows={2}
          value={like?.labels ? labelWords(like.labels) : was('labels')}
        />
      </Options>
      <MakeIt fills={stay} />
    </form>
  )
}

function inputsOf(form: FormData, ports: Ports = {}): Record<string, string> {
  const at = (field: string) => form.get(field) as string | null
  return Object.fromEntries(
    Object.entries(ports)
      .filter(isNamed)
      .flatMap(([name, { schema }]) => {
        const json = valueIn(readSchema(schema && encodedToJson(schema)), `${PORT}${name}`, { at })
        return json === undefined ? [] : [[name, `[${json}]`]]
      }),
  )
}

export function jobBody(form: FormData, worker?: WorkerDefinition): string {
  const [args, more, priority, group, wait, alias, labels] = OPTIONS.map((name) => maybe(form, name))
  const typed = inputsOf(form, worker?.in)
  const inputs = Object.keys(typed).length > 0 ? objectOf(typed) : more && jsonText(more, 'inputs')
  return objectOf({
    queue: JSON.stringify(given(form, 'queue')),
    class: JSON.stringify(given(form, 'class')),
    args: args && jsonText(args, 'args'),
    inputs,
    priority: priority && String(numberIn(priority, 'priority')),
    group: group && JSON.stringify({ id: group }),
    wait: wait && JSON.stringify(wait),
    alias: alias && JSON.stringify([alias]),
    labels: labels && JSON.stringify(labelsIn(labels)),
  })
}
