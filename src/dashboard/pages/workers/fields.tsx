import { Field, type FieldProps, Options, Select, TextArea } from '../../parts/field.tsx'
import { jsonFields, type WorkerField, type WorkerTexts } from '../../words/worker.ts'

export const fields: Readonly<Record<WorkerField, Omit<FieldProps, 'name' | 'value'>>> = {
  served: { label: 'Kind of worker' },
  url: { label: 'Address', note: 'sidejob sends each run to this URL', placeholder: 'https://app.example.com/work' },
  concurrency: { label: 'Max running', type: 'number', placeholder: 'no limit' },
  retries: { label: 'Retries', path: 'max', type: 'number', placeholder: 'default 3' },
  backoff: {
    label: 'Backoff',
    note: 'first delay, or a list of delays',
    placeholder: 'default 10s, doubling',
    path: 'base delays',
  },
  timeout: { label: 'Run timeout', placeholder: 'default 30s' },
  retain: { label: 'Kept after it ends', placeholder: 'default 1d, failed 30d' },
  history: { label: 'Runs kept', type: 'number', placeholder: 'default: last and failed runs' },
  description: { label: 'Description' },
  in: { label: 'Input ports', note: 'JSON: { "url": { "schema": { "type": "string" } } }' },
  out: { label: 'Output ports', note: 'JSON, like the input ports' },
  args: { label: 'Args', note: 'JSON Schema of the args of a job' },
  result: { label: 'Result', note: 'JSON Schema of the result of a job' },
  limits: {
    label: 'Limits',
    note: 'JSON: [{ "key": "stripe", "concurrency": 8, "rate": { "limit": 25, "period": "1s" } }]',
  },
}

const kinds = { pull: 'Pull: your program claims jobs', push: 'Push: sidejob calls an address' }

const rowsOf = (text: string): number => Math.min(16, 2 + Math.floor(text.length / 28))

type FieldsProps = { values: WorkerTexts; isNew?: boolean }

export function Fields({ values, isNew }: FieldsProps) {
  const field = (name: WorkerField) => <Field {...fields[name]} name={name} value={values[name]} />
  return (
    <>
      <Select {...fields.served} name="served" options={Object.keys(kinds)} labels={kinds} value={values.served} />
      {field('url')}
      <Options title="More options: ports, retries, retention, limits" open={!isNew}>
        <div class="cronf">
          {(['concurrency', 'retries', 'backoff', 'timeout', 'retain', 'history'] as const).map(field)}
        </div>
        {field('description')}
        {jsonFields.map((name) => (
          <TextArea {...fields[name]} name={name} rows={rowsOf(values[name])} value={values[name]} />
        ))}
      </Options>
    </>
  )
}
