// `npm run create -- ../my-jobs` works like `npm create sidejob my-jobs` with the package of this repository.

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const OLDEST = 22

/** npm runs this script with the Node of the repository, but the project needs the user's own Node. */
function checkNode(): void {
  const { npm_node_execpath: node } = process.env
  if (!node) return
  const version = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()
  if (Number(/^v(\d+)/.exec(version)?.[1]) < OLDEST)
    throw new Error(
      `A project needs Node ${OLDEST} or newer, this is ${version}. Install a newer one from https://nodejs.org`,
    )
}

function pack(folder: string): string {
  console.error('Packing sidejob …')
  const out = execFileSync('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root, encoding: 'utf8' })
  return join(folder, out.trim().split('\n').at(-1)!)
}

const scratch = mkdtempSync(join(tmpdir(), 'sidejob-create-'))
try {
  checkNode()
  process.chdir(process.env.INIT_CWD ?? root)
  const words = process.argv.slice(2)
  if (!words.some((word) => word === '--help' || word === '-h')) process.env.SIDEJOB_PACKAGE = pack(scratch)
  const cli = join(root, 'src/cli/index.ts')
  process.exitCode = spawnSync(process.execPath, [cli, 'create', ...words], { stdio: 'inherit' }).status ?? 1
} catch (error) {
  console.error(`sidejob create: ${(error as Error).message}`)
  process.exitCode = 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
