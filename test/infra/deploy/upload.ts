import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { placements } from './placement.ts'

type Binding = { type: string; name: string; text?: string; json?: unknown; bucket_name?: string; id?: string }

export type Metadata = {
  main_module: string
  bindings: Binding[]
  compatibility_date: string
  compatibility_flags?: string[]
  keep_bindings?: string[]
  placement?: { mode?: string; region?: string }
  observability?: object
  assets?: { jwt?: string; config?: object }
}

export type Module = { name: string; type: string; contents: Uint8Array }
export type Upload = { metadata: Metadata; modules: Module[] }

export async function uploadOf(headers: Record<string, string>, body: Buffer): Promise<Upload> {
  const form = await new Response(new Uint8Array(body), { headers }).formData()
  const modules: Module[] = []
  for (const [name, part] of form.entries())
    if (part instanceof Blob && !name.startsWith('metadata'))
      modules.push({ name, type: part.type, contents: new Uint8Array(await part.arrayBuffer()) })
  return { metadata: JSON.parse(String(form.get('metadata'))) as Metadata, modules }
}

export const secretsOf = ({ bindings }: Metadata): Record<string, string> =>
  Object.fromEntries(bindings.flatMap(({ type, name, text }) => (type === 'secret_text' ? [[name, text!]] : [])))

export const bucketsOf = ({ bindings }: Metadata): string[] =>
  bindings.flatMap(({ bucket_name }) => (bucket_name ? [bucket_name] : []))

export const databasesOf = ({ bindings }: Metadata): string[] =>
  bindings.flatMap(({ type, id }) => (type === 'd1' ? [id!] : []))

let workerd: Buffer | undefined

/** In the binary of workerd, each flag is a string that ends with a zero byte. */
function isFlag(name: string): boolean {
  const require = createRequire(createRequire(import.meta.url).resolve('wrangler/package.json'))
  workerd ??= readFileSync((require('workerd') as { default: string }).default)
  return /^[a-z][a-z0-9_]+$/.test(name) && workerd.includes(`\0${name}\0`)
}

const NAME = /^[a-z0-9_]([\w-]*[a-z0-9_])?$/i
const BUCKET = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/
const DATABASE = /^[a-z0-9_][a-z0-9_-]{0,63}$/i
const CRON = /^\S+( \S+){4}$/

export const isName = (name: string): boolean => NAME.test(name) && name.length <= 63
export const isBucket = (name: string): boolean => BUCKET.test(name)
export const isDatabase = (name: string): boolean => DATABASE.test(name)
export const isCron = (cron: string): boolean => CRON.test(cron)

export function refusalOf(
  { metadata, modules }: Upload,
  buckets: Set<string>,
  databases: ReadonlyMap<string, unknown>,
): string | undefined {
  const { compatibility_date: date, compatibility_flags: flags = [], placement, main_module: main } = metadata
  if (!modules.some(({ name }) => name === main)) return `main_module ${main} is not among the modules`
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) return `Invalid compatibility date: ${date}`
  const unknown = flags.find((flag) => !isFlag(flag))
  if (unknown) return `No such compatibility flag: ${unknown}`
  if (placement?.region && !placements.has(placement.region)) return `No such placement region: ${placement.region}`
  const unmade = databasesOf(metadata).find((id) => !databases.has(id))
  if (unmade) return `D1 binding references database '${unmade}' which was not found.`
  const missing = bucketsOf(metadata).find((bucket) => !buckets.has(bucket))
  return missing && `R2 bucket '${missing}' not found. Please use a different name and try again.`
}
