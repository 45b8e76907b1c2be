import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export default function setup(): void {
  const root = join(import.meta.dirname, '../..')
  // The processes that tests start reuse the compiled modules.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compiled')
  for (const build of ['infra/lua-build/index.ts', 'infra/build-dashboard.ts', 'infra/build-client.ts']) {
    execFileSync(process.execPath, [build], { cwd: root, stdio: 'inherit' })
  }
}
