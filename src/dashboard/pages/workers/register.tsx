// A form that registers a class, or changes one: it is served by programs that claim, or by an address that is called.

import { useLook } from '../../look.ts'
import type { Act } from '../../page.ts'
import { refusal, Sent } from '../../parts/act.tsx'
import { Field, Select, TextArea } from '../../parts/field.tsx'
import { Card } from '../../parts/layout.tsx'
import { given, jsonText, maybe, numberIn } from '../../words/form.ts'

export const register: Act = {
  scope: 'admin',
  async does({ form, call }) {
    const [queue, name] = [given(form, 'queue'), given(form, 'class')]
    const url = maybe(form, 'url')
    const [concurrency, retries] = ['concurrency', 'retries'].map((field) => {
      const text = maybe(form, field)
      return text === undefined ? undefined : numberIn(text, field)
    })
    const [timeout, description, ports] = ['timeout', 'description', 'in'].map((field) => maybe(form, field))
    const body = {
      ...(given(form, 'served') === 'push' ? { push: { url: url ?? '' } } : { pull: true }),
      ...(concurrency === undefined ? {} : { concurrency }),
      ...(retries === undefined ? {} : { retry: { max: retries } }),
      ...(timeout ? { timeout } : {}),
      ...(description ? { description } : {}),
      ...(ports ? { in: JSON.parse(jsonText(ports, 'in')) } : {}),
    }
    await call('PUT', `/v1/workers/${encodeURIComponent(queue)}/${encodeURIComponent(name)}`, body)
    const to = `/workers/${encodeURIComponent(queue)}/${encodeURIComponent(name)}`
    return { say: `${queue}/${name} is registered`, to, link: { text: name, to } }
  },
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
          <Select
            name="served"
            label="Served by"
            options={['pull', 'push']}
            note="programs that claim, or an address"
          />
          <Field name="url" label="Address" note="push only" placeholder="https://…" mono />
          <Field name="concurrency" label="At once" type="number" />
          <Field name="retries" label="Tries again" path="max" type="number" />
          <Field name="timeout" label="Time for a run" placeholder="30s" />
          <Field name="description" label="Description" />
        </div>
        <TextArea name="in" label="In ports" note='JSON: { "url": { "schema": { "type": "string" } } }' rows={2} />
        <button class="btn primary" type="submit" disabled={off !== undefined} title={off}>
          Register it
        </button>
      </form>
    </Card>
  )
}
