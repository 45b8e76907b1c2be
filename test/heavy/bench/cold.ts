// `npm run bench:cold -- 10` measures the time from the start of workerd to the first response.

import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { workerdBelow } from '../../../src/dev/workerd-pid.ts'
import { usedBy } from './cpu.ts'

const root = resolve(import.meta.dirname, '../../..')
const requireAsWrangler = createRequire(createRequire(import.meta.url).resolve('wrangler/package.json'))
const { build } = requireAsWrangler('esbuild') as typeof import('esbuild')
const { Miniflare, Log, LogLevel, convertV4MiniflareOptions } = requireAsWrangler(
  'miniflare',
) as typeof import('miniflare')

const hello = "export default { fetch: () => new Response('hello') }"

async function template(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'templates/worker/src/index.ts')],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    alias: {
      'sidejob/cloudflare': join(root, 'dist/src/cloudflare/index.js'),
      sidejob: join(root, 'dist/src/index.js'),
    },
  })
  return outputFiles[0]!.text
}

const bindings = {
  UPSTASH_REDIS_REST_URL: 'http://127.0.0.1:1',
  UPSTASH_REDIS_REST_TOKEN: 't',
  QSTASH_TOKEN: 't',
  QSTASH_CURRENT_SIGNING_KEY: 'c',
  QSTASH_NEXT_SIGNING_KEY: 'n',
  SIDEJOB_API_KEY: 'k',
  PUBLIC_URL: 'http://127.0.0.1',
}

/** All times are in milliseconds. */
async function start(script: string): Promise<Record<'first' | 'cpu' | 'second', number>> {
  const begun = performance.now()
  const options = convertV4MiniflareOptions({
    modules: true,
    script,
    bindings,
    host: '127.0.0.1',
    port: 0,
    cf: false,
    compatibilityDate: '2026-10-20',
    compatibilityFlags: ['nodejs_compat'],
    log: new Log(LogLevel.ERROR),
  })
  const worker = new Miniflare(options)
  const url = await worker.ready
  const ask = async () => (await fetch(new URL('/nothing', url))).arrayBuffer()
  await ask()
  const first = performance.now()
  const cpu = usedBy(workerdBelow(process.pid)!) / 1_000
  await ask()
  const second = performance.now()
  await worker.dispose()
  return { first: first - begun, cpu, second: second - first }
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]!

const rounds = Number(process.argv[2] ?? 10)
const script = await template()
const pairs: { ours: Awaited<ReturnType<typeof start>>; empty: Awaited<ReturnType<typeof start>> }[] = []
for (let round = 0; round < rounds; round++) pairs.push({ ours: await start(script), empty: await start(hello) })

const tell = (what: string, of: (pair: (typeof pairs)[number]) => number) =>
  console.log(`${what.padEnd(48)} ${median(pairs.map(of)).toFixed(1).padStart(7)} ms`)
console.log(`${(script.length / 1024).toFixed(0)} KiB, ${(gzipSync(script).length / 1024).toFixed(0)} KiB gzipped`)
tell(`first answer, median of ${rounds}`, ({ ours }) => ours.first)
tell('for an empty Worker', ({ empty }) => empty.first)
tell('the difference to ours', ({ ours, empty }) => ours.first - empty.first)
tell('the difference in CPU time of workerd', ({ ours, empty }) => ours.cpu - empty.cpu)
tell('the answer after it', ({ ours }) => ours.second)
