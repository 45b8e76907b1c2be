import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { type Command, UsageError } from '../command.ts'
import { ownVersion, packageFolder } from '../version.ts'

const templates = () =>
  readdirSync(join(packageFolder(), 'templates'), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? [entry.name] : [],
  )

const nameOf = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'my-jobs'

const replaceIn = (path: string, from: string, to: string) =>
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll(from, to))

/** Copies a tarball of sidejob into the project, so that the project works on other machines too. */
function dependencyIn(folder: string): string {
  const { SIDEJOB_PACKAGE: version = `^${ownVersion()}` } = process.env
  if (!/^[^:]+\.tgz$/.test(version)) return version
  const path = join('vendor', basename(version))
  mkdirSync(join(folder, 'vendor'), { recursive: true })
  copyFileSync(version, join(folder, path))
  return `file:${path}`
}

function createProject(folder: string, template: string): string[] {
  const known = templates()
  if (!known.includes(template))
    throw new UsageError(`--template: expected one of ${known.join(', ')}, got ${template}`)
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new UsageError(`${folder} is not empty. Choose a new folder, or use sidejob init for an existing Worker`)
  cpSync(join(packageFolder(), 'templates', template), folder, { recursive: true })
  // npm removes .gitignore files from packages, so the template has `gitignore`.
  renameSync(join(folder, 'gitignore'), join(folder, '.gitignore'))
  for (const file of ['package.json', 'wrangler.jsonc', 'README.md'])
    replaceIn(join(folder, file), 'my-jobs', nameOf(folder))
  const path = join(folder, 'package.json')
  const settings = JSON.parse(readFileSync(path, 'utf8')) as { dependencies: Record<string, string> }
  settings.dependencies.sidejob = dependencyIn(folder)
  writeFileSync(path, `${JSON.stringify(settings, null, 2)}\n`)
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  )
}

export const create: Command = {
  does: 'Create a project: a Worker with jobs, tests, types and a dashboard',
  takes: ['folder'],
  flags: ['json', 'help'],
  options: { template: { short: 't', default: 'worker', does: 'worker, hono or python' } },
  async run(_client, { template }, { show, note, json }, [folder]) {
    const files = createProject(resolve(folder!), String(template))
    if (json) return show({ folder: resolve(folder!), files })
    note(`Created ${files.length} files in ${folder}. Next:`)
    for (const line of [`cd ${folder}`, 'npm install', 'npm test', 'npx sidejob dev']) note(`  ${line}`)
  },
}
