// A form that registers a class, or changes one: it is served by programs that claim, or by an address that is called.

import { useLook } from '../../look.ts'
import type { Act } from '../../page.ts'
import { refusal, Sent } from '../../parts/act.tsx'
import { Field, Select, TextArea } from '../../parts/field.tsx'
import { Card } from '../../parts/layout.tsx'
import { given, jsonText, maybe, naming, numberIn } from '../../words/form.ts'
import type { WorkerTexts } from '../../words/worker.ts'
import { pathOf } from './one.tsx'

export const register: Act = {
  scope: 'admin',
  async does({ form, call }) {
    const [queue, name] = [given(form, 'queue'), given(form, 'class')]
    const url = maybe(form, 'url')
    const [concurrency, retries] = ['concurrency', 'retries'].map((field) => {
      const text = maybe(form, field)
      return text === undefined ? undefined : numberIn(text, field)
    })
    const [timeout, description, ports, args] = ['timeout', 'description', 'in', 'args'].map((field) =>
      maybe(form, field),
    )
    const body = {
      ...(given(form, 'served') === 'push' ? { push: { url: url ?? '' } } : { pull: true }),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(retries === undefined ? {} : { retry: { max: retries } }),
      ...(timeout ? { timeout } : {}),
      ...(description ? { description } : {}),
      ...(ports ? { in: JSON.parse(jsonText(ports, 'in')) } : {}),
      ...(args ? { args: JSON.parse(jsonText(args, 'args')) } : {}),
    }
    const to = pathOf(queue, name)
    await naming(['in', 'args'], call('PUT', `/v1${to}`, body))
    return { say: `${queue}/${name} is registered`, to, link: { text: name, to } }
  },
}

/** What can be said of a class, whoever registers or changes it. */
export function WorkerFields({ values = {} }: { values?: Partial<WorkerTexts> }) {
  return (
    <>
      <div class="cronf">
        <Select
          name="served"
          label="Served by"
          options={['pull', 'push']}
          value={values.served}
          note="programs that claim, or an address"
        />
        <Field name="url" label="Address" note="push only" placeholder="https://…" value={values.url} mono />
        <Field name="concurrency" label="At once" type="number" value={values.concurrency} />
        <Field name="retries" label="Tries again" path="max" type="number" value={values.retries} />
        <Field name="timeout" label="Time for a run" placeholder="30s" value={values.timeout} />
        <Field name="description" label="Description" value={values.description} />
      </div>
      <TextArea
        name="in"
        label="In ports"
        note='JSON: { "url": { "schema": { "type": "string" } } }'
        rows={2}
        value={values.in}
      />
      <TextArea
        name="args"
        label="Args"
        note="JSON Schema of what its jobs are made with"
        rows={2}
        value={values.args}
      />
    </>
  )
}

export function Register() {
  const { base, who } = useLook()
  const off = refusal(who.scopes, 'admin')
  return (
    <Card title="Register a class" right="functions of the deployment register themselves" id="register">
      <form class="form" method="post" action={`${base}/workers`} data-act="register">
        <Sent act="register" />
        <div class="cronf">
          <Field name="queue" label="Queue" value="default" required mono />
          <Field name="class" label="Class" required mono />
        </div>
        <WorkerFields />
        <button class="btn primary" type="submit" disabled={off !== undefined} title={off}>
          Register it
        </button>
      </form>
    </Card>
  )
}
