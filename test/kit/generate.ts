// Builds the generated files, so that no test uses outdated ones.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export default function setup(): void {
  const root = join(import.meta.dirname, '../..')
  // Caches compiled modules, so that processes that tests start do not compile them again.
  process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compiled')
  for (const build of ['infra/lua-build/index.ts', 'infra/build-dashboard.ts', 'infra/build-client.ts']) {
    execFileSync(process.execPath, [build], { cwd: root, stdio: 'inherit' })
  }
}
