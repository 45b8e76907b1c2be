import { parseArgs } from 'node:util'
import { createClient } from '../client/index.ts'
import { mapValues } from '../core/map-values.ts'
import { backup } from './backup.ts'
import { type Command, type CommonFlag, chosen, type Given, type Io, type Option, UsageError } from './command.ts'
import { completion, firstsOf, verbsOf } from './completion.ts'
import { deployCommands } from './deploys.ts'
import { doctor } from './doctor.ts'
import { download } from './download.ts'
import { messageOf } from './failures.ts'
import { historyCommands } from './history.ts'
import { createIo } from './io.ts'
import { jobs } from './jobs.ts'
import { nearest } from './nearest.ts'
import { callbacksResend, filesPurge } from './previewed.ts'
import { projectCommands } from './project/index.ts'
import { resources } from './resources.ts'
import { DEFAULT_URL, profileCommands, type Target, targetOf } from './target.ts'
import { version } from './version.ts'

export const commands: Record<string, Command> = {
  ...projectCommands,
  ...jobs,
  ...resources,
  ...historyCommands,
  ...deployCommands,
  'callbacks resend': callbacksResend,
  'files purge': filesPurge,
  download,
  doctor,
  ...backup,
  ...profileCommands,
  version,
}
commands.completion = completion(commands)

export const common: Record<CommonFlag, Option> = {
  url: { does: 'address of sidejob (SIDEJOB_URL)' },
  key: { does: 'API key (SIDEJOB_API_KEY)' },
  profile: { does: 'name of a saved address and key' },
  json: { type: 'boolean', does: 'print JSON instead of tables' },
  help: { type: 'boolean', short: 'h', does: 'show this help' },
}

const flagNames = Object.keys(common) as CommonFlag[]

export function optionsOf({ options = {}, flags = flagNames }: Command): Record<string, Option> {
  const used = flagNames.filter((name) => flags.includes(name) && !(name in options))
  return { ...options, ...Object.fromEntries(used.map((name) => [name, common[name]])) }
}

function optionsBefore(words: string[]): [options: string[], asked: string[]] {
  const optionAt = (i: number) => common[/^--(\w+)/.exec(words[i] ?? '')?.[1] as CommonFlag]
  let end = 0
  for (let option = optionAt(0); option; option = optionAt(end))
    end += !option.type && !words[end]!.includes('=') ? 2 : 1
  return [words.slice(0, end), words.slice(end)]
}

function commandOf(words: string[]): [name: string, command: Command, rest: string[]] | undefined {
  const [first = '', second = '-'] = words
  const asked = second.startsWith('-') && commands[`${first} ls`] ? [first, 'ls', ...words.slice(1)] : words
  const name = commandNames().find((one) => asked.slice(0, one.split(' ').length).join(' ') === one)
  return name === undefined ? undefined : [name, commands[name]!, asked.slice(name.split(' ').length)]
}

const usageOf = (name: string, { takes = [] }: Command): string =>
  [name, ...takes.map((one) => (one.startsWith('[') ? one : `<${one}>`))].join(' ')

const isSingle = (name: string) => !name.includes(' ') && !(name in jobs) && !(name in projectCommands)

export const commandNames = (): string[] => Object.keys(commands)

function linesOf(names: string[]): string[] {
  const width = Math.max(...commandNames().map((name) => usageOf(name, commands[name]!).length))
  return names.map((name) => `  ${usageOf(name, commands[name]!).padEnd(width)}  ${commands[name]!.does}`)
}

const namesOf = (resource: string): string[] => commandNames().filter((name) => name.startsWith(`${resource} `))

function overview(): string[] {
  const names = commandNames()
  const resourceNames = firstsOf(names.filter((name) => name.includes(' ')))
  const groups: [title: string, names: string[]][] = [
    ['Projects', Object.keys(projectCommands)],
    ['Jobs', Object.keys(jobs)],
    ...resourceNames.map((of): [string, string[]] => [`${of[0]!.toUpperCase()}${of.slice(1)}`, namesOf(of)]),
    ['Other', names.filter(isSingle)],
  ]
  return [
    'sidejob <command> [options]',
    '  sidejob run double -i n=1 --wait',
    '  sidejob queues pause media',
    ...groups.flatMap(([title, of]) => ['', title, ...linesOf(of)]),
    '',
    'sidejob <command> --help shows the options of a command.',
  ]
}

function help(name: string, command: Command): string[] {
  const rows = Object.entries(optionsOf(command)).map(([option, { type, short, default: usual, does }]) => {
    const words = `${short ? `-${short}, ` : ''}--${option}${type ? '' : ' <…>'}`
    return `  ${words.padEnd(24)} ${does}${usual ? ` (default: ${usual})` : ''}`
  })
  return [`sidejob ${usageOf(name, command)}`, `  ${command.does}`, '', 'Options', ...rows]
}

function given(rest: string[], name: string, command: Command) {
  const { takes = [] } = command
  const parsed = (() => {
    try {
      const options = mapValues(optionsOf(command), (option) => ({ type: 'string' as const, ...option }))
      return parseArgs({ args: rest, options, allowPositionals: true, allowNegative: true })
    } catch (error) {
      const [fault] = (error as Error).message.split('. ')
      throw new UsageError(`${fault}. sidejob ${name} --help lists the options`)
    }
  })()
  const { values, positionals: words } = parsed as { values: Given; positionals: string[] }
  if (values.help) return { values, words }
  const least = takes.filter((one) => !one.startsWith('[')).length
  if (words.length < least)
    throw new UsageError(`expected <${takes[words.length]}>, got nothing: sidejob ${usageOf(name, command)}`)
  if (words.length > takes.length && !takes.at(-1)?.includes('…'))
    throw new UsageError(`expected ${takes.length === 0 ? 'nothing more' : takes.join(' ')}, got ${words.join(' ')}`)
  return { values, words }
}

function unknown([first = '', second]: string[]): string {
  const names = commandNames()
  const verbs = verbsOf(names, first)
  if (verbs.length > 0) {
    const meant = second === undefined ? undefined : nearest(second, verbs)
    const hint = meant ? ` Did you mean "sidejob ${first} ${meant}"?` : ''
    return `sidejob ${first}: expected one of ${verbs.join(', ')}, got ${second ?? 'nothing'}.${hint}`
  }
  const meant = nearest(first, [...names, ...firstsOf(names)])
  const hint = meant ? `Did you mean "sidejob ${meant}"?` : 'sidejob --help lists all commands'
  return `sidejob: unknown command "${first}". ${hint}`
}

const asksHelp = (word = ''): boolean => ['help', '--help', '-h'].includes(word)

function helpOf(words: string[]): string[] | undefined {
  const [first, ...rest] = words
  if (first === undefined) return overview()
  const [resource = ''] = asksHelp(first) ? rest : asksHelp(rest[0]) ? words : []
  if (words.length === 2 && namesOf(resource).length > 0)
    return [`sidejob ${resource} <command> [options]`, ...linesOf(namesOf(resource))]
  if (!asksHelp(first)) return undefined
  const found = commandOf(rest)
  if (found) return help(found[0], found[1])
  return rest.length === 0 ? overview() : undefined
}

export async function main(words: string[], io: (json: boolean) => Io = createIo): Promise<number> {
  const plain = io(words.includes('--json'))
  const shown = helpOf(words)
  if (shown) {
    for (const line of shown) plain.print(line)
    return 0
  }
  const [before, asked] = optionsBefore(words)
  const found = commandOf(asked[0] === '--version' || asked[0] === '-v' ? ['version'] : asked)
  if (!found) {
    plain.note(unknown(asksHelp(asked[0]) ? asked.slice(1) : asked))
    return 2
  }
  const [name, command, rest] = found
  let target: Target | undefined
  try {
    const { values, words } = given([...before, ...rest], name, command)
    if (values.help) {
      for (const line of help(name, command)) plain.print(line)
      return 0
    }
    const isLocal = command.flags && !command.flags.includes('url')
    if (!isLocal) target = targetOf(values)
    return (
      (await command.run(
        createClient({ ...(target ?? { url: DEFAULT_URL, key: '' }), ...chosen(values, 'reason') }),
        values,
        plain,
        words,
      )) ?? 0
    )
  } catch (error) {
    plain.note(`sidejob ${name}: ${await messageOf(error, target, command.options)}`)
    return error instanceof UsageError ? 2 : 1
  }
}
