import { existsSync, readFileSync } from 'node:fs'
import { dirname, extname, join, relative, resolve } from 'node:path'
import { configIn, noConfig } from '../../../deploy/config-file.ts'
import { flagsFor, observability, versionMetadata } from '../../../deploy/recommended.ts'
import { UsageError } from '../../command.ts'
import { ownVersion, packageFolder } from '../../version.ts'
import { hasSidejob, patched, type Style, styleOf } from './entry.ts'
import { jsonAt, parsed, withItem, withValue } from './json.ts'
import { tomlText, withTomlItem, withTomlMember } from './toml.ts'

type Change = { path: string; before?: string; after: string }
type Plan = { changes: Change[]; advice: string[]; install: string }

const CRON = '* * * * *'
const NO_MAIN =
  'The configuration has no main. Set it to the entry of the Worker, such as src/index.ts, and run init again'

const read = (path: string): string | undefined => (existsSync(path) ? readFileSync(path, 'utf8') : undefined)
const template = (path: string) => readFileSync(join(packageFolder(), 'templates/worker', path), 'utf8')

type Package = {
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

function packageChange(folder: string) {
  const path = join(folder, 'package.json')
  const before = read(path)
  const own = (before === undefined ? {} : parsed(before)) as Package
  const wanted = JSON.parse(template('package.json')) as Required<Package>
  const has = (name: string) => own.dependencies?.[name] ?? own.devDependencies?.[name]
  let after = before ?? '{\n  "private": true,\n  "type": "module"\n}\n'
  const add = (kind: 'dependencies' | 'devDependencies', name: string, version: string) => {
    if (!has(name)) after = withValue(after, [kind, name], version)
  }
  add('dependencies', 'sidejob', process.env.SIDEJOB_PACKAGE ?? `^${ownVersion()}`)
  for (const name of ['hono', 'zod']) add('dependencies', name, wanted.dependencies[name]!)
  add('devDependencies', 'wrangler', wanted.devDependencies.wrangler!)
  const { dev } = own.scripts ?? {}
  if (dev === undefined || /^wrangler dev$/.test(dev.trim()))
    after = withValue(after, ['scripts', 'dev'], 'sidejob dev')
  const advice = /sidejob dev/.test(String(jsonAt(after, ['scripts', 'dev'])))
    ? []
    : [`Your script "dev" is: ${dev}. Start the Worker with "sidejob dev" instead: "wrangler dev" has no Redis`]
  return { change: { path, before, after }, advice }
}

type Config = { main?: string; compatibility_date?: string; observability?: object }

function settingsIn(path: string, text: string): Config {
  if (!path.endsWith('.toml')) return parsed(text) as Config
  return { main: tomlText(text, 'main'), compatibility_date: tomlText(text, 'compatibility_date') }
}

function configChange(path: string): Change {
  const before = readFileSync(path, 'utf8')
  const flags = flagsFor(settingsIn(path, before).compatibility_date)
  if (path.endsWith('.toml')) {
    const flagged = flags.reduce((text, flag) => withTomlItem(text, undefined, 'compatibility_flags', flag), before)
    const observed = Object.entries(observability).reduce(
      (text, [key, value]) => withTomlMember(text, 'observability', key, value),
      flagged,
    )
    const named = withTomlMember(observed, 'version_metadata', 'binding', versionMetadata.binding)
    return { path, before, after: withTomlItem(named, 'triggers', 'crons', CRON) }
  }
  const flagged = flags.reduce((text, flag) => withItem(text, ['compatibility_flags'], flag), before)
  const members = settingsIn(path, before).observability === undefined ? observability : { redact_query_string: true }
  const observed = Object.entries(members).reduce(
    (text, [key, value]) =>
      jsonAt(text, ['observability', key]) === undefined ? withValue(text, ['observability', key], value) : text,
    flagged,
  )
  const named =
    jsonAt(observed, ['version_metadata']) === undefined
      ? withValue(observed, ['version_metadata', 'binding'], versionMetadata.binding)
      : observed
  return { path, before, after: withItem(named, ['triggers', 'crons'], CRON) }
}

type CompilerOptions = {
  allowImportingTsExtensions?: boolean
  rewriteRelativeImportExtensions?: boolean
  module?: string
}

function compilerOptions(path: string, depth = 0): CompilerOptions {
  const text = read(path)
  if (text === undefined || depth > 5) return {}
  const { extends: bases = [], compilerOptions: own = {} } = parsed(text) as {
    extends?: string | string[]
    compilerOptions?: CompilerOptions
  }
  const inherited = [bases].flat().flatMap((base) => (base.startsWith('.') ? [resolve(dirname(path), base)] : []))
  const all = inherited.map((base) => compilerOptions(base.endsWith('.json') ? base : `${base}.json`, depth + 1))
  return Object.assign({}, ...all, own)
}

function importExtension(folder: string, entry: string): string {
  if (/^\.m?js$/.test(extname(entry))) return extname(entry)
  const options = compilerOptions(join(folder, 'tsconfig.json'))
  if (options.allowImportingTsExtensions || options.rewriteRelativeImportExtensions) return '.ts'
  return /^node/i.test(options.module ?? '') ? '.js' : ''
}

const styled = (text: string, { quote, end }: Style): string =>
  text
    .split('\n')
    .map((line) => (/^(import|export const jobs)\b/.test(line) ? line.replace(/$/, end) : line))
    .join('\n')
    .replaceAll("'", quote)

const imported = (name: string, from: string): string => ['import', '{', name, '}', 'from', `'${from}'`].join(' ')

const jobsFile = (mount: string, extension: string): string =>
  [
    '// The jobs of this Worker, served below the mount, next to its own routes.',
    '',
    imported('createWorker', 'sidejob/cloudflare'),
    imported('dashboard', 'sidejob/dashboard'),
    imported('double', `./double${extension}`),
    '',
    `export const jobs = createWorker({ functions: [double], mount: '${mount}', dashboard: dashboard() })`,
    '',
  ].join('\n')

const ignored = ['.sidejob', '.wrangler', '.dev.vars']

function gitignoreChange(folder: string): Change {
  const path = join(folder, '.gitignore')
  const before = read(path)
  const start = before ?? 'node_modules\n'
  const lines = start.split('\n').map((line) => line.trim().replace(/^\/|\/$/g, ''))
  const missing = ignored.filter((name) => !lines.includes(name) && !lines.includes(`${name}*`))
  const after = missing.length
    ? `${start}${start.endsWith('\n') || start === '' ? '' : '\n'}${missing.join('\n')}\n`
    : start
  return { path, before, after }
}

const managers = { 'pnpm-lock.yaml': 'pnpm install', 'yarn.lock': 'yarn install', 'bun.lock': 'bun install' }

const installOf = (folder: string): string => {
  const found = Object.entries(managers).find(([file]) => existsSync(join(folder, file)))
  return found?.[1] ?? 'npm install'
}

/** The folder `jobs` may contain the project's own modules. */
function jobsFolder(source: string, suffix: string): string {
  const index = read(join(source, 'jobs', `index${suffix}`))
  const isOwn =
    index === undefined ? ['jobs', `jobs${suffix}`].some((name) => existsSync(join(source, name))) : !hasSidejob(index)
  return isOwn ? 'sidejobs' : 'jobs'
}

function sourceChanges(folder: string, main: string, mount: string): { changes: Change[]; advice: string[] } {
  const path = join(folder, main)
  const before = read(path)
  if (before !== undefined && hasSidejob(before)) return { changes: [], advice: [] }
  const extension = importExtension(folder, main)
  const style = styleOf(before ?? '')
  const suffix = /^\.m?js$/.test(extname(main)) ? extname(main) : '.ts'
  const jobs = jobsFolder(dirname(path), suffix)
  const fresh = (name: string, text: string): Change[] => {
    const file = join(dirname(path), jobs, `${name}${suffix}`)
    return existsSync(file) ? [] : [{ path: file, after: styled(text, style) }]
  }
  const changes = [...fresh('double', template('src/jobs/double.ts')), ...fresh('index', jobsFile(mount, extension))]
  const from = extension ? `./${jobs}/index${extension}` : `./${jobs}`
  if (before === undefined) return { changes, advice: [`${main} does not exist. Create it, or correct main`] }
  const after = patched(before, from)
  if (after !== undefined) return { changes: [{ path, before, after }, ...changes], advice: [] }
  return {
    changes,
    advice: [
      `${relative(folder, path)} has no default export that can be changed automatically. Export your handlers like this:`,
      `  ${imported('jobs', from)}`,
      '  export default jobs.with({ fetch, scheduled, queue })',
    ],
  }
}

export function planOf(folder: string, mount: string): Plan {
  const config = configIn(folder)
  if (!config) throw new UsageError(noConfig(folder))
  const { main } = settingsIn(config, readFileSync(config, 'utf8'))
  const own = packageChange(folder)
  const source = main ? sourceChanges(folder, main, mount) : { changes: [], advice: [NO_MAIN] }
  const changes = [own.change, configChange(config), ...source.changes, gitignoreChange(folder)]
  return {
    changes: changes.filter(({ before, after }) => before !== after),
    advice: [...own.advice, ...source.advice],
    install: installOf(folder),
  }
}

export function diff({ before = '', after }: Change): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const removed = old.filter((line) => !now.includes(line)).map((line) => `- ${line}`)
  const added = now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`)
  return [...removed, ...added]
}
