// A form that registers a class, or changes one: it is served by programs that claim, or by an address that is called.

import { useLook } from '../../look.ts'
import type { Act } from '../../page.ts'
import { refusal, Sent } from '../../parts/act.tsx'
import { Field, Options, Select, TextArea } from '../../parts/field.tsx'
import { Card } from '../../parts/layout.tsx'
import { given, maybe, naming } from '../../words/form.ts'
import { jsonFields, type WorkerTexts, workerBodyOf, workerFields } from '../../words/worker.ts'
import type { Worker } from './classes.tsx'
import { pathOf } from './one.tsx'
import { type Unfit, UnfitLine } from './unfit.tsx'

export const register: Act = {
  scope: 'admin',
  async does({ form, call }) {
    const [queue, name] = [given(form, 'queue'), given(form, 'class')]
    const texts = Object.fromEntries(workerFields.map((field) => [field, maybe(form, field) ?? ''])) as WorkerTexts
    const to = pathOf(queue, name)
    await naming(jsonFields, call('PUT', `/v1${to}`, workerBodyOf(texts)))
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
        <Field name="concurrency" label="Max running" type="number" value={values.concurrency} />
        <Field name="retries" label="Tries again" path="max" type="number" value={values.retries} />
        <Field
          name="backoff"
          label="Waits before that"
          note="the first, or each"
          placeholder="10s"
          path="base delays"
          value={values.backoff}
        />
        <Field name="timeout" label="Time for a run" placeholder="30s" value={values.timeout} />
        <Field name="retain" label="Kept after the end" placeholder="1d" value={values.retain} />
        <Field name="history" label="Runs kept" type="number" value={values.history} />
        <Field name="description" label="Description" value={values.description} />
      </div>
      <TextArea
        name="in"
        label="In ports"
        note='JSON: { "url": { "schema": { "type": "string" } } }'
        rows={2}
        value={values.in}
      />
      <TextArea name="out" label="Out ports" note="JSON, as above" rows={2} value={values.out} />
      <TextArea
        name="args"
        label="Args"
        note="JSON Schema of what its jobs are made with"
        rows={2}
        value={values.args}
      />
      <Options title="Result and limits" open={Boolean(values.result || values.limits)}>
        <TextArea
          name="result"
          label="Result"
          note="JSON Schema of what its runs answer"
          rows={2}
          value={values.result}
        />
        <TextArea
          name="limits"
          label="Limits"
          note='JSON: [{ "key": "stripe", "concurrency": 8, "rate": { "limit": 25, "period": "1s" } }]'
          rows={2}
          value={values.limits}
        />
      </Options>
    </>
  )
}

export function Register({ unfit, taken }: { unfit?: Unfit; taken?: Worker }) {
  const { base, who } = useLook()
  const off = refusal(who.scopes, 'admin')
  return (
    <Card title="Register a class" right="functions register themselves" id="register">
      <form
        data-opened
        class="form"
        method="post"
        action={`${base}/workers`}
        data-act="register"
        data-preview="register queue class in args"
      >
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
      <UnfitLine unfit={unfit} taken={taken} />
    </Card>
  )
}
