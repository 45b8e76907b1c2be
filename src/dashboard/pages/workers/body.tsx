// A job of a class as the API takes it: to be changed and sent from here, or as a command to be copied.

import { encodedToJson } from '../../../core/codec/value.ts'
import { useLook } from '../../look.ts'
import { Sent } from '../../parts/act.tsx'
import { TextArea } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { MakeIt } from '../../parts/job-form.tsx'
import { objectOf } from '../../words/form.ts'
import { pretty } from '../../words/json.ts'
import { sampleOf } from '../../words/schema.ts'
import type { Worker } from './classes.tsx'

const indented = (json: string): string =>
  pretty(json)
    .map(({ text }) => text)
    .join('')

/** The body of `POST /v1/jobs`, with a value for each port: its default, else one of its schema. */
export function bodyOf({ queue, class: name, in: ins = {} }: Worker): string {
  const inputs = Object.entries(ins)
    .filter(([port]) => port !== '*')
    .map(([port, { schema, default: otherwise }]) => [
      port,
      `[${otherwise === undefined ? sampleOf(schema && encodedToJson(schema)) : encodedToJson(otherwise)}]`,
    ])
  return objectOf({
    queue: JSON.stringify(queue),
    class: JSON.stringify(name),
    ...(inputs.length > 0 ? { inputs: objectOf(Object.fromEntries(inputs)) } : {}),
  })
}

export function AsJson({ worker }: { worker: Worker }) {
  const { base, here } = useLook()
  return (
    <form class="form" method="post" action={`${base}${here}`} data-act="make">
      <Sent act="make" />
      <input type="hidden" name="stay" value="1" />
      <TextArea name="json" label="Body" note="of POST /v1/jobs" rows={12} value={indented(bodyOf(worker))} />
      <MakeIt />
    </form>
  )
}

/** Between single quotes a shell reads nothing but them. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

export function AsCurl({ worker }: { worker: Worker }) {
  const { base, host } = useLook()
  const url = `${/^(localhost|127\.)/.test(host) ? 'http' : 'https'}://${host}${base.replace(/\/ui$/, '')}/v1/jobs`
  const lines = [
    `curl -X POST ${quoted(url)}`,
    '  -H "Authorization: Bearer $SIDEJOB_KEY"',
    "  -H 'content-type: application/json'",
    `  -d ${quoted(indented(bodyOf(worker)))}`,
  ]
  return (
    <div class="form snip">
      <pre tabindex={0}>{lines.join(' \\\n')}</pre>
      <div class="row goes">
        <button class="btn" type="button" data-copy="">
          <Icon name="copy" size={14} />
          Copy
        </button>
      </div>
    </div>
  )
}
