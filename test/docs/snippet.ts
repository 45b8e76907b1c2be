import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Worker } from '../../src/core/worker.ts'
import { type Block, blockAt, blocksOf, root } from './blocks.ts'

const folder = join(root, '.sidejob/snippets-run')

const modules: Record<string, string> = {
  sidejob: 'src/index.ts',
  'sidejob/cloudflare': 'src/cloudflare/node.ts',
  'sidejob/client': 'src/client/index.ts',
  'sidejob/testing': 'src/testing/index.ts',
  'sidejob/dev': 'src/dev/index.ts',
  'sidejob/functions': 'functions/core.ts',
  './jobs/index.ts': '.sidejob/snippets-run/jobs/index.ts',
  './jobs/double.ts': '.sidejob/snippets-run/jobs/double.ts',
  './jobs/approval.ts': '.sidejob/snippets-run/jobs/approval.ts',
  './jobs/hello.ts': '.sidejob/snippets-run/jobs/hello.ts',
  '../src/jobs/index.ts': '.sidejob/snippets-run/jobs/index.ts',
  '../src/jobs/double.ts': '.sidejob/snippets-run/jobs/double.ts',
  '../src/jobs/approval.ts': '.sidejob/snippets-run/jobs/approval.ts',
  vitest: 'test/docs/snippets/vitest.ts',
  'cloudflare:workers': 'test/docs/snippets/workers.ts',
}

function write(name: string, text: string): string {
  const file = join(folder, name)
  mkdirSync(dirname(file), { recursive: true })
  const code = text.replace(/(from ')([^']+)(')/g, (all, from, module, end) =>
    modules[module] ? `${from}${join(root, modules[module])}${end}` : all,
  )
  writeFileSync(file, `${code}\nexport {}\n`)
  return file
}

function writeJobs(): string[] {
  const template = join(root, 'templates/worker/src/jobs')
  const files = ['index.ts', 'approval.ts', 'double.ts'].map((name) =>
    write(`jobs/${name}`, readFileSync(join(template, name), 'utf8')),
  )
  return [...files, write('jobs/hello.ts', blockAt('docs/start.md', '// src/jobs/hello.ts').text)]
}

let loaded = 0
const fresh = (file: string): Promise<Record<string, unknown>> => import(/* @vite-ignore */ `${file}?${loaded++}`)

export function load({ page, line, text }: Block): Promise<Record<string, unknown>> {
  writeJobs()
  return fresh(write(`${page.replaceAll('/', '~')}~${line}.ts`, text))
}

const label = /^\/\/ (\S+\.tsx?)\n/

export function writeProject(page: string): Record<string, string> {
  const place = `${page.replaceAll('/', '~')}~${crypto.randomUUID()}`
  const files = blocksOf(page).flatMap(({ text }) => {
    const [, name] = label.exec(text) ?? []
    return name ? [[name, write(`${place}/${name}`, text)]] : []
  })
  return Object.fromEntries(files) as Record<string, string>
}

export const defined = async (page: string, start: string): Promise<Worker[]> =>
  Object.values(await load(blockAt(page, start))) as Worker[]

export const readers = async (): Promise<Record<string, Worker>> => {
  const modules = await Promise.all(writeJobs().map(fresh))
  return Object.assign({}, ...modules) as Record<string, Worker>
}
