import { toBase64 } from '../core/codec/base64.ts'
import { sha256 } from '../core/crypto.ts'
import { type Code, codes } from '../core/errors.ts'
import { remedies } from '../core/remedies.ts'
import { html, raw } from './jsx-runtime.ts'
import type { Content, OpenApi, Operation, Schema } from './openapi-types.ts'

export const docs = (document: OpenApi): Promise<Response> => show(reference(document))

export const errors = (): Promise<Response> => show(codeList())

const show = async (page: object): Promise<Response> =>
  new Response(String(page), {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${toBase64(await sha256(new TextEncoder().encode(style)))}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    },
  })

const style = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 20%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); }
nav { display: flex; flex-wrap: wrap; gap: 0 1rem; }
details { border-bottom: 1px solid var(--line); padding: .4rem 0; }
summary { cursor: pointer; }
code, pre { font: 14px/1.4 ui-monospace, monospace; }
pre { overflow-x: auto; padding: .6rem; border: 1px solid var(--line); border-radius: 4px; }
.scope { float: right; opacity: .7; }
`

const page = (title: string, body: unknown) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title><style>${raw(style)}</style>
</head>
<body>
<h1>${title}</h1>
${body}
</body>
</html>`

const codeList = () =>
  page(
    'Errors',
    Object.entries(remedies).map(
      ([code, { means, remedy }]) => html`<h2 id="${code}">${code} (${codes[code as Code]})</h2>
<p>Cause: ${means}.</p><p>Remedy: ${remedy}.</p>`,
    ),
  )

const reference = ({ info, paths, components }: OpenApi) => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
  const tags = [...new Set(operations.map(({ tags }) => tags[0]!))]
  const shapes = new Set(Object.keys(components.schemas))
  const shown = (schema: Schema) => linked(written(schema), shapes)
  return page(
    `${info.title} API`,
    html`<p>${info.description} As data: <a href="openapi.json">openapi.json</a>.
Requests and responses of push workers: <a href="worker.openapi.json">worker.openapi.json</a>.</p>
<nav>${tags.map((tag) => html`<a href="#${tag}">${tag}</a>`)}<a href="#shapes">shapes</a></nav>
${tags.map(
  (tag) => html`<h2 id="${tag}">${tag}</h2>
${operations.filter(({ tags }) => tags[0] === tag).map((operation) => section(operation, shown))}`,
)}
<h2 id="shapes">shapes</h2>
${Object.entries(components.schemas).map(([name, schema]) => html`<h3 id="${name}">${name}</h3><pre>${shown(schema)}</pre>`)}`,
  )
}

const section = (
  { path, method, ...operation }: Operation & { path: string; method: string },
  shown: (of: Schema) => unknown,
) => html`<details>
<summary><code>${method} ${path}</code> <span class="scope">${scope(operation)}</span><br>${operation.summary}</summary>
${operation.description ? html`<p>${operation.description}</p>` : ''}
${operation.parameters.map(({ name, in: where, schema }) => html`<p><code>${name}</code> in ${where}: <code>${written(schema)}</code></p>`)}
${operation.requestBody ? html`<p>Body</p><pre>${shown(contentOf(operation.requestBody))}</pre>` : ''}
${Object.entries(operation.responses).map(([status, response]) => html`<p>${status}: ${response.description}</p>${response.content ? html`<pre>${shown(contentOf(response))}</pre>` : ''}`)}
</details>
`

const scope = ({ security }: Operation): string => {
  if (security.length === 0) return 'open'
  const [{ key } = {}] = security
  return key ? (key[0] ?? 'any') : 'signed by QStash'
}

const contentOf = ({ content = {} }: { content?: Content }): Schema => Object.values(content)[0]?.schema ?? {}

const linked = (text: string, shapes: ReadonlySet<string>) =>
  text
    .split(/( {2}\/\/ .*|\b[A-Z]\w*\b)/)
    .map((piece) => (shapes.has(piece) ? html`<a href="#${piece}">${piece}</a>` : piece))

type Json = Schema & {
  type?: string | string[]
  $ref?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  description?: string
}

export const written = (schema: Schema, indent = ''): string => {
  const { type, $ref, anyOf, oneOf, items, properties, description, ...rest } = schema as Json
  if ($ref) return $ref.split('/').at(-1)!
  if ('const' in rest) return JSON.stringify(rest.const)
  if (rest.enum) return rest.enum.map((value) => JSON.stringify(value)).join(' | ')
  const options = anyOf ?? oneOf
  if (options) return [...new Set(options.map((option) => written(option, indent)))].join(' | ')
  if (type === 'array') return `(${written(items ?? {}, indent)})[]`.replace(/^\((\w+)\)/, '$1')
  if (type === 'object') return members(schema as Json, indent)
  return [type ?? 'any'].flat().join(' | ')
}

const members = ({ properties = {}, required = [], additionalProperties }: Json, indent: string): string => {
  const deeper = `${indent}  `
  const lines = Object.entries(properties).map(
    ([name, schema]) =>
      `${deeper}${name}${required.includes(name) ? '' : '?'}: ${written(schema, deeper)}${comment(schema as Json)}\n`,
  )
  if (typeof additionalProperties === 'object')
    lines.push(`${deeper}[name]: ${written(additionalProperties, deeper)}\n`)
  return lines.length > 0 ? `{\n${lines.join('')}${indent}}` : '{}'
}

const comment = ({ description }: Json): string =>
  description && description !== 'any value' ? `  // ${description}` : ''
