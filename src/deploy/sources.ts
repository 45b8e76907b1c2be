import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Env } from './settings.ts'
import { buildName, isProjects, keepTable, tableOf } from './source-table.ts'

type Project = { root: string; raw: { no_bundle?: boolean; main?: string } }

const isOwnIn = (root: string) => {
  const isLibrary = existsSync(join(root, 'src/redis/lua'))
  return (name: string) => isProjects(name) && !(isLibrary && name.startsWith('src/'))
}

async function keepBuild(out: string, build: string, { root }: Project, vars: Env): Promise<void> {
  const map = readdirSync(out).find((name) => name.endsWith('.js.map'))
  if (!map) return
  const bundle = map.slice(0, -'.map'.length)
  const table = tableOf(readFileSync(join(out, map), 'utf8'), { dir: out, root, bundle, isOwn: isOwnIn(root) })
  await keepTable(vars, build, table)
}

export async function withSources<T>(project: Project, vars: Env, deploy: (args: string[]) => Promise<T>): Promise<T> {
  if (project.raw.no_bundle) return deploy([])
  const out = mkdtempSync(join(tmpdir(), 'sidejob-build-'))
  const build = buildName()
  try {
    const define = `__SIDEJOB_BUILD__:${JSON.stringify(build)}`
    const deployed = await deploy(['--outdir', out, '--upload-source-maps', '--define', define])
    // An error here does not fail the deploy: without the table, stacks show positions in the bundle.
    await keepBuild(out, build, project, vars).catch(() => undefined)
    return deployed
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}
