import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as httpRequest, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { V4ModuleDefinition } from 'miniflare'
import type { FakeWorker } from './cloudflare.ts'
import type { Module } from './upload.ts'

const requireAsWrangler = createRequire(createRequire(import.meta.url).resolve('wrangler/package.json'))
const { Miniflare, convertV4MiniflareOptions } = requireAsWrangler('miniflare') as typeof import('miniflare')

const kinds: Record<string, V4ModuleDefinition['type']> = {
  'application/javascript+module': 'ESModule',
  'application/wasm': 'CompiledWasm',
  'application/octet-stream': 'Data',
  'text/plain': 'Text',
}

/** Omits source maps, because only Cloudflare's logs need them. */
function modulesOf(modules: Module[], main: string): V4ModuleDefinition[] {
  const known = modules.filter(({ type }) => type in kinds)
  const entry = known.find(({ name }) => name === main)!
  return [entry, ...known.filter((one) => one !== entry)].map(({ name, type, contents }) => {
    const kind = kinds[type]!
    const isText = kind === 'ESModule' || kind === 'Text'
    return { type: kind, path: `/worker/${name}`, contents: isText ? Buffer.from(contents).toString() : contents }
  }) as V4ModuleDefinition[]
}

function variablesOf({ metadata, secrets }: FakeWorker): Record<string, unknown> {
  const vars = metadata!.bindings.flatMap(({ type, name, text, json }) =>
    type === 'plain_text' ? [[name, text]] : type === 'json' ? [[name, json]] : [],
  )
  return { ...Object.fromEntries(vars), ...secrets }
}

const ASSETS = 'assets'

function optionsOf(name: string, worker: FakeWorker, folder: string) {
  const { bindings, main_module, compatibility_date, compatibility_flags = [], assets } = worker.metadata!
  for (const [path, content] of worker.files ?? []) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const binding = bindings.find(({ type }) => type === ASSETS)?.name
  return convertV4MiniflareOptions({
    name,
    modulesRoot: '/worker',
    modules: modulesOf(worker.modules!, main_module),
    compatibilityDate: compatibility_date,
    compatibilityFlags: compatibility_flags,
    bindings: variablesOf(worker) as Record<string, string>,
    r2Buckets: bindings.flatMap(({ type, name: bucket }) => (type === 'r2_bucket' ? [bucket] : [])),
    d1Databases: bindings.flatMap(({ type, name: database }) => (type === 'd1' ? [database] : [])),
    ...(worker.files
      ? {
          assets: {
            directory: folder,
            ...(binding ? { binding } : {}),
            routerConfig: { has_user_worker: true },
            assetConfig: { compatibility_date, compatibility_flags, ...assets?.config },
          },
        }
      : {}),
    cf: false,
    telemetry: { enabled: false },
  } as Parameters<typeof convertV4MiniflareOptions>[0])
}

type Scheduled = { scheduled: (event: { cron: string; scheduledTime: Date }) => Promise<{ outcome: string }> }

type Site = { origin: string; server: Server; target?: URL; worker?: InstanceType<typeof Miniflare>; folder: string }

function pass(request: IncomingMessage, response: ServerResponse, target: URL): void {
  const { method, headers, url } = request
  const onward = httpRequest({ hostname: target.hostname, port: target.port, path: url, method, headers }, (answer) => {
    response.writeHead(answer.statusCode!, answer.headers)
    answer.pipe(response)
  })
  onward.on('error', () => response.destroy())
  response.on('close', () => onward.destroy())
  request.pipe(onward)
}

export function createSites() {
  const sites = new Map<string, Site>()

  return {
    async reserve(name: string): Promise<string> {
      const site: Partial<Site> = { folder: mkdtempSync(join(tmpdir(), 'sidejob-cloud-')) }
      site.server = createServer((request, response) => {
        if (site.target) return pass(request, response, site.target)
        response.writeHead(404, { 'content-type': 'text/html' }).end('<html>error 1042</html>')
      })
      await new Promise<void>((resolve) => site.server!.listen(0, '127.0.0.1', resolve))
      site.origin = `http://127.0.0.1:${(site.server.address() as AddressInfo).port}`
      sites.set(name, site as Site)
      return site.origin
    },
    async serve(name: string, worker: FakeWorker): Promise<void> {
      const site = sites.get(name)
      if (!site) return
      await site.worker?.dispose()
      site.worker = new Miniflare(optionsOf(name, worker, site.folder))
      site.target = await site.worker.ready
    },
    async fire(name: string, cron: string): Promise<string> {
      const worker = (await sites.get(name)!.worker!.getWorker(name)) as unknown as Scheduled
      return (await worker.scheduled({ cron, scheduledTime: new Date() })).outcome
    },
    async close(): Promise<void> {
      for (const { server, worker, folder } of sites.values()) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
        await worker?.dispose()
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}

export type Sites = ReturnType<typeof createSites>
