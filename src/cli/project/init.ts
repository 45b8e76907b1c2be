// sidejob init: adds sidejob to a Worker that is there. It shows what it would write, asks, and changes no file of yours
// but package.json and a wrangler configuration in JSON.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Command, UsageError, yes } from '../command.ts'
import { ownVersion, packageFolder } from '../version.ts'
import { flagsFor, observability } from './recommended.ts'

export type Change = { path: string; before?: string; after: string }

const configs = ['wrangler.json', 'wrangler.jsonc', 'wrangler.toml']
const CRON = '* * * * *'

const template = (path: string) => readFileSync(join(packageFolder(), 'templates/worker', path), 'utf8')

function dependencies(folder: string): Change {
  const path = join(folder, 'package.json')
  const before = existsSync(path) ? readFileSync(path, 'utf8') : undefined
  const settings = JSON.parse(before ?? '{"private":true,"type":"module"}') as { dependencies?: Record<string, string> }
  const wanted = JSON.parse(template('package.json')) as { dependencies: Record<string, string> }
  const version = process.env.SIDEJOB_PACKAGE ?? `^${ownVersion()}`
  settings.dependencies = { ...wanted.dependencies, ...settings.dependencies, sidejob: version }
  const indent = /^(\s+)"/m.exec(before ?? '')?.[1]?.replace(/\n/g, '') || '  '
  return { path, ...(before === undefined ? {} : { before }), after: `${JSON.stringify(settings, null, indent)}\n` }
}

/** A list in a text of JSON, with one text more; comments and form stay. */
export function withItem(text: string, name: string, item: string): string {
  const list = new RegExp(`("${name}"\\s*:\\s*\\[)([^\\]]*)(\\])`).exec(text)
  if (!list) return text.replace(/\{/, `{\n  "${name}": ["${item}"],`)
  const [whole, head, items, tail] = list as unknown as [string, string, string, string]
  if (items.includes(`"${item}"`)) return text
  const rest = items.trimEnd().replace(/,$/, '')
  return text.replace(whole, `${head}${rest}${rest.trim() ? ', ' : ''}"${item}"${tail}`)
}

const shown = JSON.stringify(observability)
  .replace(/([:,{])/g, '$1 ')
  .replace('}', ' }')

/** Observability in a text of JSON: as recommended, or as it is with the query strings left out. */
function withObservability(text: string): string {
  if (text.includes('"redact_query_string"')) return text
  if (!/"observability"\s*:/.test(text)) return text.replace(/\{/, `{\n  "observability": ${shown},`)
  return text.replace(
    /("observability"\s*:\s*\{)(\s*)(\}?)/,
    (_, head, space, end) => `${head} "redact_query_string": true${end ? ' }' : `,${space || ' '}`}`,
  )
}

const dateIn = (text: string): string | undefined => /compatibility_date"?\s*[:=]\s*"([\d-]+)"/.exec(text)?.[1]

function adviceForToml(before: string): string[] {
  const flags = flagsFor(dateIn(before))
  return [
    ...(flags.every((flag) => before.includes(`"${flag}"`)) ? [] : [`compatibility_flags = ${JSON.stringify(flags)}`]),
    ...(before.includes(`"${CRON}"`) ? [] : ['[triggers]', `crons = ["${CRON}"]`]),
    ...(before.includes('redact_query_string')
      ? []
      : ['[observability]', 'enabled = true', 'redact_query_string = true']),
  ]
}

function settings(path: string): { change?: Change; advice: string[] } {
  const before = readFileSync(path, 'utf8')
  if (path.endsWith('.toml')) return { advice: adviceForToml(before) }
  const flagged = flagsFor(dateIn(before)).reduce((text, flag) => withItem(text, 'compatibility_flags', flag), before)
  let after = withObservability(flagged)
  if (!after.includes(`"${CRON}"`))
    after = /"triggers"\s*:/.test(after)
      ? withItem(after, 'crons', CRON)
      : after.replace(/\{/, `{\n  "triggers": { "crons": ["${CRON}"] },`)
  return after === before ? { advice: [] } : { change: { path, before, after }, advice: [] }
}

const imported = (name: string, from: string): string => `import { ${name} } from ${JSON.stringify(from)}`

const jobsFile = (mount: string): string =>
  [
    '// The jobs of this Worker, beside its own routes.',
    '',
    imported('createWorker', 'sidejob/cloudflare'),
    imported('double', './double.ts'),
    '',
    `export const jobs = createWorker({ functions: [double], mount: '${mount}' })`,
    '',
  ].join('\n')

/** What a project needs, as changes of its files; nothing for what is there already. */
export function planOf(folder: string, mount: string): { changes: Change[]; advice: string[] } {
  const config = configs.map((name) => join(folder, name)).find((path) => existsSync(path))
  if (!config)
    throw new UsageError(
      `${folder}: expected a Worker with ${configs.join(', ')}, got none; npm create sidejob makes a new one`,
    )
  const fresh = (path: string, after: string): Change[] =>
    existsSync(join(folder, path)) ? [] : [{ path: join(folder, path), after }]
  const { change, advice } = settings(config)
  const own = dependencies(folder)
  const changes = [
    ...(own.before === own.after ? [] : [own]),
    ...(change ? [change] : []),
    ...fresh('src/jobs/double.ts', template('src/jobs/double.ts')),
    ...fresh('src/jobs/index.ts', jobsFile(mount)),
  ]
  return { changes, advice }
}

/** The lines that go and come, without what stays. */
export function diff({ before = '', after }: Change): string[] {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const gone = old.filter((line) => !now.includes(line)).map((line) => `- ${line}`)
  const come = now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`)
  return [...gone, ...come]
}

export const init: Command = {
  does: 'adds sidejob to the Worker of this folder: shows what it would write, and asks',
  takes: ['[folder]'],
  options: { mount: { type: 'string', default: '/_sidejob', does: 'the path under which it answers' }, yes },
  async run(_client, { mount, yes: really }, { show, print, note, json, confirm }, [folder = '.']) {
    const { changes, advice } = planOf(resolve(folder), String(mount))
    if (json && !really)
      return show({ changes: changes.map(({ path, before }) => ({ path, isNew: before === undefined })), advice })
    for (const change of changes) {
      print(`${change.before === undefined ? 'new' : 'changed'}  ${change.path}`)
      for (const line of diff(change)) print(`  ${line}`)
    }
    if (changes.length === 0) print('nothing is missing')
    else if (!really && !(await confirm('Write this?'))) {
      note('nothing is written; --yes writes it')
      return
    }
    for (const { path, after } of changes) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, after)
    }
    if (advice.length) note(`Add to wrangler.toml:\n  ${advice.join('\n  ')}`)
    note('In the entry of your Worker:')
    note(`  ${imported('jobs', './jobs/index.ts')}`)
    note('  export default jobs.with(app)   // app: your Hono app, or { fetch }')
    note('Then: npm install && npx sidejob dev')
  },
}
