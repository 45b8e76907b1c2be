import { DatabaseSync } from 'node:sqlite'
import { createAssets, type Files } from './assets.ts'
import { regions } from './placement.ts'
import {
  bucketsOf,
  databasesOf,
  isBucket,
  isCron,
  isDatabase,
  isName,
  type Metadata,
  type Module,
  refusalOf,
  secretsOf,
  type Upload,
  uploadOf,
} from './upload.ts'

export type FakeWorker = {
  secrets: Record<string, string>
  buckets: string[]
  /** Ids of databases. */
  databases: string[]
  crons: string[]
  placement?: object
  metadata?: Metadata
  modules?: Module[]
  files?: Files
}

export type Call = {
  method: string
  path: string
  query: URLSearchParams
  headers: Record<string, string>
  body: Buffer
}

export type Answer = { status: number; json: unknown; headers?: Record<string, string> }

type State = {
  accounts: { id: string; name: string }[]
  subdomain?: string
  r2: boolean
  d1: boolean
  pageSize: number
}
export type OnDeployed = (name: string, worker: FakeWorker) => Promise<void>

const ok = (result: unknown = {}, more: object = {}): Answer => ({
  status: 200,
  json: { success: true, errors: [], messages: [], result, ...more },
})
export const refused = (status: number, code: number, message: string): Answer => ({
  status,
  json: { success: false, errors: [{ code, message }], messages: [], result: null },
})
const noWorker = () => refused(404, 10007, 'This Worker does not exist on your account.')
const noD1 = () => refused(403, 10000, 'Authentication error')
const noService = () => refused(404, 10090, 'workers.api.error.service_not_found')

export function createCloudflareApi(state: State, onDeployed: OnDeployed = async () => {}) {
  const workers = new Map<string, FakeWorker>()
  const buckets = new Set<string>()
  const databases = new Map<string, { name: string; sql: DatabaseSync }>()
  const assets = createAssets()
  const versions = new Map<string, FakeWorker>()

  function paged(all: unknown[], { query }: Call): Answer {
    const page = Number(query.get('page') ?? 1)
    const size = Math.min(Number(query.get('per_page') ?? 20), state.pageSize)
    const result = all.slice((page - 1) * size, page * size)
    const total = { total_count: all.length, total_pages: Math.max(1, Math.ceil(all.length / size)) }
    return ok(result, { result_info: { page, per_page: size, count: result.length, ...total } })
  }

  /** An upload removes secrets that it does not mention, unless `keep_bindings` contains `secret_text`. */
  function made({ metadata, modules }: Upload, former?: FakeWorker): FakeWorker {
    const kept = metadata.keep_bindings?.includes('secret_text') ? former?.secrets : {}
    return {
      secrets: { ...kept, ...secretsOf(metadata) },
      buckets: bucketsOf(metadata),
      databases: databasesOf(metadata),
      crons: former?.crons ?? [],
      metadata,
      modules,
      ...(metadata.placement ? { placement: metadata.placement } : {}),
      ...(metadata.assets?.jwt ? { files: assets.filesOf(metadata.assets.jwt) } : {}),
    }
  }

  async function upload({ headers, body }: Call, name: string): Promise<FakeWorker | Answer> {
    if (!isName(name)) return refused(400, 10016, `Script name is invalid: ${name}`)
    const sent = await uploadOf(headers, body)
    const why = refusalOf(sent, buckets, databases)
    return why ? refused(400, 10021, why) : made(sent, workers.get(name))
  }

  async function script(call: Call, name: string, rest: string): Promise<Answer | undefined> {
    const worker = workers.get(name)
    const at = `${call.method} ${rest}`
    if (at === 'PUT ') {
      const uploaded = await upload(call, name)
      if ('status' in uploaded) return uploaded
      workers.set(name, uploaded)
      await onDeployed(name, uploaded)
      return ok({ id: name, tag: 't', etag: 'e', startup_time_ms: 5, deployment_id: 'd', entry_point: 'w.js' })
    }
    if (at === 'POST /assets-upload-session') {
      const { manifest } = JSON.parse(call.body.toString()) as { manifest: Parameters<typeof assets.begin>[0] }
      return ok(assets.begin(manifest))
    }
    if (!worker) return noWorker()
    // A new version serves requests only after a separate call deploys it.
    if (at === 'POST /versions') {
      const uploaded = await upload(call, name)
      if ('status' in uploaded) return uploaded
      const id = crypto.randomUUID()
      versions.set(id, uploaded)
      const resources = { script: { etag: 'e', handlers: ['fetch'] }, bindings: [], script_runtime: {} }
      return ok({ id, number: 2, metadata: {}, resources, startup_time_ms: 5 })
    }
    if (at === 'POST /deployments') {
      const { versions: wanted } = JSON.parse(call.body.toString()) as { versions: { version_id: string }[] }
      const version = versions.get(wanted[0]!.version_id)
      if (!version) return refused(400, 10222, 'version not found')
      workers.set(name, version)
      await onDeployed(name, version)
      return ok({ id: 'd' })
    }
    return existing(call, worker, name, rest)
  }

  function existing({ method, body }: Call, worker: FakeWorker, name: string, rest: string): Answer | undefined {
    switch (`${method} ${rest}`) {
      case 'DELETE ':
        workers.delete(name)
        return ok()
      case 'GET /secrets':
        return ok(Object.keys(worker.secrets).map((secret) => ({ name: secret, type: 'secret_text' })))
      case 'PUT /secrets': {
        const { name: secret, text } = JSON.parse(body.toString()) as { name: string; text: string }
        worker.secrets[secret] = text
        return ok({ name: secret, type: 'secret_text' })
      }
      case 'PUT /schedules': {
        const crons = (JSON.parse(body.toString()) as { cron: string }[]).map(({ cron }) => cron)
        const wrong = crons.find((cron) => !isCron(cron))
        if (wrong) return refused(400, 10100, `invalid cron string: ${wrong}`)
        worker.crons = crons
        return ok({ schedules: crons.map((cron) => ({ cron })) })
      }
      case 'GET /schedules':
        return ok({ schedules: worker.crons.map((cron) => ({ cron })) })
      case 'GET /subdomain':
      case 'POST /subdomain':
        return ok({ enabled: true, previews_enabled: false })
      case 'GET /settings':
        return ok({ bindings: [], tags: [], observability: worker.metadata?.observability ?? null })
      case 'PATCH /script-settings':
        return ok({ tags: [], observability: worker.metadata?.observability ?? null })
      case 'GET /versions':
        return ok({ items: [] })
      case 'GET /deployments':
        return ok({ deployments: [], items: [] })
      default:
        return undefined
    }
  }

  function service({ method }: Call, name: string, part: string): Answer | undefined {
    if (method !== 'GET') return undefined
    if (!workers.has(name)) return noService()
    if (part === '/environments/production/bindings' || part === '/environments/production/routes') return ok([])
    const environment = {
      environment: 'production',
      script: { id: name, tag: 't', last_deployed_from: 'wrangler' },
    }
    const subdomain = { enabled: true, previews_enabled: false }
    if (part !== '') return undefined
    return ok({ id: name, ...environment, ...subdomain, default_environment: environment, subdomain })
  }

  function makeBucket({ body }: Call): Answer {
    if (!state.r2) return refused(403, 10042, 'Please enable R2 through the Cloudflare Dashboard.')
    const { name } = JSON.parse(body.toString()) as { name: string }
    if (!isBucket(name)) return refused(400, 10005, `The specified bucket name is not valid: ${name}`)
    if (buckets.has(name)) return refused(409, 10004, 'The bucket you tried to create already exists, and you own it.')
    buckets.add(name)
    return ok({ name })
  }

  function makeDatabase({ body }: Call): Answer {
    const { name } = JSON.parse(body.toString()) as { name: string }
    if (!isDatabase(name)) return refused(400, 7400, `Invalid database name: ${name}`)
    if ([...databases.values()].some((one) => one.name === name))
      return refused(400, 7502, `A database named '${name}' already exists.`)
    const uuid = crypto.randomUUID()
    databases.set(uuid, { name, sql: new DatabaseSync(':memory:') })
    return ok({ uuid, name, version: 'production', created_at: new Date().toISOString() })
  }

  function queryDatabase({ body }: Call, id: string): Answer {
    const found = databases.get(id)
    if (!found) return refused(404, 7404, `The database ${id} could not be found`)
    const { sql, params = [] } = JSON.parse(body.toString()) as { sql: string; params?: string[] }
    try {
      const results = found.sql.prepare(sql).all(...params)
      return ok([{ results, success: true, meta: { duration: 1 } }])
    } catch (error) {
      return refused(400, 7500, `${(error as Error).message}: SQLITE_ERROR`)
    }
  }

  function ofDatabases(call: Call, rest: string): Answer | undefined {
    if (!state.d1) return noD1()
    if (rest !== '') return call.method === 'POST' ? queryDatabase(call, rest.split('/')[1]!) : undefined
    if (call.method === 'POST') return makeDatabase(call)
    const all = [...databases].map(([uuid, { name }]) => ({ uuid, name }))
    return paged(
      all.filter(({ name }) => name.includes(call.query.get('name') ?? '')),
      call,
    )
  }

  async function ofAccount(call: Call, rest: string): Promise<Answer | undefined> {
    const [, name, more] = /^\/workers\/scripts\/([^/]+)(.*)$/.exec(rest) ?? []
    if (name) return script(call, decodeURIComponent(name), more!)
    const [, worker, part = ''] = /^\/workers\/(?:services|workers)\/([^/]+)(\/.*)?$/.exec(rest) ?? []
    if (worker) return service(call, decodeURIComponent(worker), part)
    const [, bucket] = /^\/r2\/buckets\/([^/]+)$/.exec(rest) ?? []
    if (bucket && call.method === 'GET')
      return buckets.has(bucket) ? ok({ name: bucket }) : refused(404, 10006, 'The specified bucket does not exist.')
    const [, database] = /^\/d1\/database((?:\/[^/]+\/query)?)$/.exec(rest) ?? []
    if (database !== undefined) return ofDatabases(call, database)
    switch (`${call.method} ${rest}`) {
      case 'GET /workers/subdomain':
        return state.subdomain
          ? ok({ subdomain: state.subdomain })
          : refused(404, 10007, 'workers.api.error.subdomain_not_found')
      case 'GET /workers/placement/regions':
        return ok({
          providers: Object.entries(regions).map(([id, all]) => ({
            id,
            regions: all.map((region) => ({ id: region })),
          })),
        })
      case 'POST /workers/assets/upload': {
        const form = await new Response(new Uint8Array(call.body), { headers: call.headers }).formData()
        return { ...ok(await assets.upload(call.headers.authorization!.replace('Bearer ', ''), form)), status: 201 }
      }
      case 'POST /r2/buckets':
        return makeBucket(call)
      default:
        return undefined
    }
  }

  return {
    workers,
    buckets,
    databases,
    async answer(call: Call): Promise<Answer | undefined> {
      if (call.path === '/accounts' && call.method === 'GET') return paged(state.accounts, call)
      const [, account, rest] = /^\/accounts\/([^/]+)(\/.*)$/.exec(call.path) ?? []
      if (!account || !state.accounts.some(({ id }) => id === account)) return undefined
      return ofAccount(call, rest!)
    },
  }
}
