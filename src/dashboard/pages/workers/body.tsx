import { encodedToJson } from '../../../core/codec/value.ts'
import { useLook } from '../../look.ts'
import { CopyButton, Sent } from '../../parts/act.tsx'
import { TextArea } from '../../parts/field.tsx'
import { MakeIt, OPTIONS, PORT } from '../../parts/job-form.tsx'
import { jsonText, objectOf } from '../../words/form.ts'
import { pretty } from '../../words/json.ts'
import { readSchema, sampleOf } from '../../words/schema.ts'
import { valueIn } from '../../words/value-form.ts'
import type { Worker } from './classes.tsx'

type Port = NonNullable<Worker['in']>[string]

const indented = (json: string): string =>
  pretty(json)
    .map(({ text }) => text)
    .join('')

/** Invalid JSON stays text, so that the API reports the error. */
function lenient(text: string): string {
  try {
    return jsonText(text, '')
  } catch {
    return JSON.stringify(text)
  }
}

function valueFor(name: string, { schema, default: otherwise }: Port, typed: URLSearchParams): string {
  const known = readSchema(schema && encodedToJson(schema))
  const given = valueIn(known, `${PORT}${name}`, { at: (field) => typed.get(field), read: lenient })
  return given ?? (otherwise === undefined ? sampleOf(known) : encodedToJson(otherwise))
}

export function bodyOf({ queue, class: name, in: ins = {} }: Worker, typed: URLSearchParams): string {
  const inputs = Object.entries(ins)
    .filter(([port]) => port !== '*')
    .map(([port, of]) => [port, `[${valueFor(port, of, typed)}]`])
  const [args, more, priority, group, wait, alias] = OPTIONS.map((option) => typed.get(option) || undefined)
  return objectOf({
    queue: JSON.stringify(queue),
    class: JSON.stringify(name),
    args: args && lenient(args),
    inputs: inputs.length > 0 ? objectOf(Object.fromEntries(inputs)) : more && lenient(more),
    priority: priority && lenient(priority),
    group: group && JSON.stringify({ id: group }),
    wait: wait && JSON.stringify(wait),
    alias: alias && JSON.stringify([alias]),
  })
}

type AsProps = { worker: Worker; typed: URLSearchParams }

export function AsJson({ worker, typed }: AsProps) {
  const { base, here } = useLook()
  return (
    <form class="form" method="post" action={`${base}${here}`} data-act="make">
      <Sent act="make" />
      <input type="hidden" name="stay" value="1" />
      <TextArea
        name="json"
        label="Body"
        note="of POST /v1/jobs"
        path="*"
        rows={12}
        value={indented(bodyOf(worker, typed))}
      />
      <MakeIt />
    </form>
  )
}

/** Quotes for a shell, which interprets only single quotes between single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export function AsCurl({ worker, typed }: AsProps) {
  const { base, host } = useLook()
  const url = `${/^(localhost|127\.)/.test(host) ? 'http' : 'https'}://${host}${base.replace(/\/ui$/, '')}/v1/jobs`
  const lines = [
    `curl -X POST ${quoted(url)}`,
    '  -H "Authorization: Bearer $SIDEJOB_KEY"',
    "  -H 'content-type: application/json'",
    `  -d ${quoted(indented(bodyOf(worker, typed)))}`,
  ]
  return (
    <div class="form snip">
      <pre tabindex={0}>{lines.join(' \\\n')}</pre>
      <div class="row goes">
        <CopyButton />
      </div>
    </div>
  )
}
