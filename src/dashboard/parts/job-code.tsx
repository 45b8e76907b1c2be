import { SidejobError } from '../../core/errors.ts'
import { useLook } from '../look.ts'
import { cover, formatJson } from '../words/json.ts'
import { TextArea } from './field.tsx'
import { Form } from './form.tsx'
import { Create, jobBody, type Named } from './job-form.tsx'
import { Snippet } from './snippet.tsx'

/** Quotes a text for a shell. Inside single quotes, only a single quote must be escaped. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const withShortLists = (json: string): string => formatJson(json).replace(/\[\n +(.*)\n +\]/g, '[$1]')

export function Curl({ method, path, body }: { method: string; path: string; body: string }) {
  const lines = [
    `curl -X ${method} ${quoted(`${useLook().url}${path}`)}`,
    '  -H "Authorization: Bearer $SIDEJOB_KEY"',
    "  -H 'content-type: application/json'",
    `  -d ${quoted(withShortLists(body))}`,
  ]
  return <Snippet title="curl" text={lines.join(' \\\n')} />
}

function Snippets({ body, json, isLater }: { body: string; json: string; isLater: boolean }) {
  const { url } = useLook()
  const typescript = `import { createClient } from 'sidejob/client'

const client = createClient({ url: '${url}', key: process.env.SIDEJOB_KEY! })
await client.jobs.enqueue(${body.replace(/^( +)"(\w+)":/gm, '$1$2:')})`
  return (
    <>
      <Snippet title="TypeScript" text={typescript} />
      <details>
        <summary>curl</summary>
        <Curl method="POST" path="/v1/jobs" body={body} />
      </details>
      <details>
        <summary>JSON, to edit and create</summary>
        <Form
          act="make"
          scope="write"
          press={<Create>Create job from JSON</Create>}
          kind="card form"
          button=""
          fields={isLater ? { later: 'on' } : undefined}
        >
          <TextArea name="body" label="JSON" note="body of POST /v1/jobs" path="*" value={json} />
        </Form>
      </details>
    </>
  )
}

export function Code({ worker, typed }: { worker: Named; typed: URLSearchParams }) {
  try {
    return (
      <Snippets
        body={cover(withShortLists(jobBody(typed, worker, true)))}
        json={withShortLists(jobBody(typed, worker))}
        isLater={typed.has('later')}
      />
    )
  } catch (error) {
    if (!(error instanceof SidejobError)) throw error
    return <p class="err">{error.message}</p>
  }
}
