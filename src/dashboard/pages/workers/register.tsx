import type { Act } from '../../page.ts'
import { Field, type FieldProps, Options, Select, TextArea, type TextAreaProps } from '../../parts/field.tsx'
import { Form } from '../../parts/form.tsx'
import { Card, Link } from '../../parts/layout.tsx'
import { given, maybe, naming } from '../../words/form.ts'
import { workerPath } from '../../words/paths.ts'
import { jsonFields, type WorkerTexts, workerBodyOf, workerFields } from '../../words/worker.ts'
import type { Worker } from './classes.tsx'
import { type Unfit, UnfitLine } from './unfit.tsx'

export const register: Act = {
  scope: 'admin',
  async does({ form, call }) {
    const [queue, name] = [given(form, 'queue'), given(form, 'class')]
    const texts = Object.fromEntries(workerFields.map((field) => [field, maybe(form, field) ?? ''])) as WorkerTexts
    const to = workerPath(queue, name)
    await naming(jsonFields, call('PUT', `/v1${to}`, workerBodyOf(texts)))
    return { say: `${queue}/${name} registered`, to, link: { text: name, to } }
  },
}

type Named<Props> = Omit<Props, 'name' | 'value'> & { name: keyof WorkerTexts }

const fields: readonly Named<FieldProps>[] = [
  { name: 'url', label: 'Address', note: 'push only', placeholder: 'https://…', mono: true },
  { name: 'concurrency', label: 'Max running', type: 'number' },
  { name: 'retries', label: 'Retries', path: 'max', type: 'number' },
  { name: 'backoff', label: 'Backoff', note: 'first delay, or a list', placeholder: '10s', path: 'base delays' },
  { name: 'timeout', label: 'Run timeout', placeholder: '30s' },
  { name: 'retain', label: 'Kept after it ends', placeholder: '1d' },
  { name: 'history', label: 'Runs kept', type: 'number' },
]

const texts: readonly Named<TextAreaProps>[] = [
  { name: 'in', label: 'Input ports', note: 'JSON: { "url": { "schema": { "type": "string" } } }' },
  { name: 'out', label: 'Output ports', note: 'JSON, as above' },
  { name: 'args', label: 'Args', note: 'JSON Schema of the args of a job' },
]

const options: readonly Named<TextAreaProps>[] = [
  { name: 'result', label: 'Result', note: 'JSON Schema of a result' },
  {
    name: 'limits',
    label: 'Limits',
    note: 'JSON: [{ "key": "stripe", "concurrency": 8, "rate": { "limit": 25, "period": "1s" } }]',
  },
]

type ValuesProps = { values?: Partial<WorkerTexts> }

const rowsOf = (text = ''): number => Math.min(16, 2 + Math.floor(text.length / 45))

const TextAreas = ({ of, values = {} }: ValuesProps & { of: typeof texts }) =>
  of.map((area) => <TextArea {...area} rows={rowsOf(values[area.name])} value={values[area.name]} />)

export function WorkerFields({ values = {} }: ValuesProps) {
  return (
    <>
      <div class="cronf">
        <Select
          name="served"
          label="Served by"
          options={['pull', 'push']}
          value={values.served}
          note="push calls a URL"
        />
        {fields.map((field) => (
          <Field {...field} value={values[field.name]} />
        ))}
      </div>
      <Field name="description" label="Description" value={values.description} />
      <TextAreas of={texts} values={values} />
      <Options title="Result and limits" open={Boolean(values.result || values.limits)}>
        <TextAreas of={options} values={values} />
      </Options>
    </>
  )
}

export function Register({ unfit, taken }: { unfit?: Unfit; taken?: Worker }) {
  return (
    <Card title="Register a class" right={<Link to="/workers">Cancel</Link>} id="register">
      <p class="body dim">
        For workers in any language and for HTTP endpoints; TypeScript functions register themselves when they are
        deployed. Afterwards, jobs of the class can be created. They wait until a pull worker claims them, or sidejob
        calls the address. <code>npx sidejob create my-worker --template python</code> creates a pull worker.
      </p>
      <Form
        act="register"
        scope="admin"
        press="Register"
        at="/workers"
        preview={['register', 'queue', 'class', 'in', 'args']}
        isOpened
      >
        <div class="cronf">
          <Field name="queue" label="Queue" value="default" required mono />
          <Field name="class" label="Class" required mono />
        </div>
        <WorkerFields />
      </Form>
      <UnfitLine unfit={unfit} taken={taken} />
    </Card>
  )
}
