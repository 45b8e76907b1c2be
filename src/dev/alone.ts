import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { V4ModuleDefinition } from 'miniflare'
import type { Build } from './bundle.ts'
import { boundsVar } from './invocation/bounds.ts'
import type { HostOptions } from './worker.ts'

type Compatibility = { compatibilityDate: string; compatibilityFlags: readonly string[] }

type Served = Compatibility & {
  port: number
  vars: Record<string, string>
  modules: readonly V4ModuleDefinition[]
}

const fields: Partial<Record<V4ModuleDefinition['type'], string>> = {
  ESModule: 'esModule',
  CompiledWasm: 'wasm',
  Text: 'text',
  Data: 'data',
}

/** Cap'n Proto accepts the escapes of JSON, except `\uXXXX`. */
const text = (value: string): string => JSON.stringify(value).replace(/\\u00(..)/g, (_, digits) => `\\x${digits}`)

const list = (items: readonly string[]): string => `[${items.join(', ')}]`

function configOf({ port, vars, modules, compatibilityDate, compatibilityFlags }: Served): string {
  const files = modules.map(({ type, path }) => {
    const name = basename(path)
    return `(name = ${text(name)}, ${fields[type]} = embed ${text(name)})`
  })
  const bindings = Object.entries(vars).map(([name, value]) => `(name = ${text(name)}, text = ${text(value)})`)
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "sidejob", worker = .sidejob),
    (name = "internet", network = (allow = ["public", "private"], tlsOptions = (trustBrowserCas = true))),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "sidejob")],
);
const sidejob :Workerd.Worker = (
  modules = ${list(files)},
  compatibilityDate = ${text(compatibilityDate)},
  compatibilityFlags = ${list(compatibilityFlags.map(text))},
  bindings = ${list(bindings)},
);
`
}

type Options = HostOptions & {
  wrangler: typeof import('wrangler')
  workerd: string
  say: (line: string) => void
  onReady: (pid: number) => void
  fail: (error: Error) => void
}

export function serveAlone({ config, port, dir, bounds, wrangler, workerd, say, onReady, fail, ...options }: Options) {
  const file = join(dir, 'worker.capnp')
  const { workerOptions } = wrangler.unstable_getMiniflareWorkerOptions(config)
  const { compatibilityDate, compatibilityFlags } = workerOptions as Compatibility
  return {
    async reload({ modules }: Build): Promise<void> {
      const vars = { ...options.vars, ...boundsVar(bounds) }
      // The settings contain secrets, so the file is private.
      writeFileSync(file, configOf({ port, vars, modules, compatibilityDate, compatibilityFlags }), { mode: 0o600 })
      const child = spawn(workerd, ['serve', '--experimental', '--control-fd=3', file], {
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      })
      process.once('exit', () => child.kill('SIGKILL'))
      for (const output of [child.stdout!, child.stderr!]) createInterface({ input: output }).on('line', say)
      child.once('exit', (code, signal) => fail(new Error(`workerd ended with ${signal ?? code}`)))
      await new Promise((resolve) => (child.stdio[3] as Readable).once('data', resolve))
      onReady(child.pid!)
    },
  }
}
