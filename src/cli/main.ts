// The table of commands, and how one of them is found, helped with and run.

import { parseArgs } from 'node:util'
import { ApiError, createClient } from '../client/index.ts'
import { SidejobError } from '../core/errors.ts'
import { backup } from './backup.ts'
import { callbacksResend } from './callbacks-resend.ts'
import { type Command, type Given, type Io, type Option, UsageError } from './command.ts'
import { completion } from './completion.ts'
import { doctor } from './doctor.ts'
import { download } from './download.ts'
import { filesPurge } from './files-purge.ts'
import { createIo } from './io.ts'
import { jobs } from './jobs.ts'
import { projectCommands } from './project/index.ts'
import { resources } from './resources.ts'
import { profileCommands, targetOf } from './target.ts'
import { version } from './version.ts'

/** Every command, by what one types. */
export const commands: Record<string, Command> = {
  ...projectCommands,
  ...jobs,
  ...resources,
  'callbacks resend': callbacksResend,
  'files purge': filesPurge,
  download,
  doctor,
  ...backup,
  ...profileCommands,
  version,
}
commands.completion = completion(commands)

/** What every command takes. */
export const common: Record<string, Option> = {
  url: { type: 'string', does: 'the address of sidejob (SIDEJOB_URL)' },
  key: { type: 'string', does: 'the API key (SIDEJOB_API_KEY)' },
  profile: { type: 'string', does: 'an address and key that are kept under a name' },
  json: { type: 'boolean', does: 'JSON in place of tables' },
  help: { type: 'boolean', short: 'h', does: 'says this' },
}

/** The options of every command that stand before it, as in `--profile production stats`, and the words from it on. */
function optionsBefore(words: string[]): [options: string[], asked: string[]] {
  const optionAt = (i: number) => common[/^--(\w+)/.exec(words[i] ?? '')?.[1] ?? '']
  let end = 0
  for (let option = optionAt(0); option; option = optionAt(end))
    end += option.type === 'string' && !words[end]!.includes('=') ? 2 : 1
  return [words.slice(0, end), words.slice(end)]
}

/** The command that words begin with; a resource alone lists what there is of it. */
function commandOf(words: string[]): [name: string, command: Command, rest: string[]] | undefined {
  const [first = '', second = '-'] = words
  const asked = second.startsWith('-') && commands[`${first} ls`] ? [first, 'ls', ...words.slice(1)] : words
  const name = Object.keys(commands).find((one) => asked.slice(0, one.split(' ').length).join(' ') === one)
  return name === undefined ? undefined : [name, commands[name]!, asked.slice(name.split(' ').length)]
}

/** Commands of one word that are about no job. */
const others = ['stats', 'download', 'doctor', 'export', 'import', 'version', 'completion']

/** All commands, by what they are about; it fits a screen. */
function overview(): string[] {
  const about = Map.groupBy(
    Object.keys(commands).filter((name) => name.includes(' ')),
    (name) => name.split(' ')[0]!,
  )
  const rows = [
    ['project', Object.keys(projectCommands)] as const,
    ['jobs', Object.keys(jobs)] as const,
    ...[...about].map(([of, names]) => [of, names.map((name) => name.split(' ')[1]!)] as const),
    ['others', others] as const,
  ]
  return [
    'sidejob <command>, as in: sidejob run count_words --wait, sidejob queues pause media',
    ...rows.map(([of, names]) => `  ${of.padEnd(11)} ${names.join(', ')}`),
    'sidejob <command> --help says more. The commands of project, jobs and others stand alone.',
  ]
}

/** The names of all commands. */
export const commandNames = (): string[] => Object.keys(commands)

function help(name: string, { does, takes = [], options = {} }: Command): string[] {
  const rows = Object.entries({ ...options, ...common }).map(([option, { type, short, default: usual, does }]) => {
    const words = `${short ? `-${short}, ` : ''}--${option}${type === 'string' ? ' <…>' : ''}`
    return `  ${words.padEnd(24)} ${does}${usual ? ` (${usual})` : ''}`
  })
  const usage = ['sidejob', name, ...takes.map((one) => (one.startsWith('[') ? one : `<${one}>`))].join(' ')
  return [`${usage}: ${does}`, ...rows]
}

function given(rest: string[], { options, takes = [] }: Command): { values: Given; words: string[] } {
  const parsed = (() => {
    try {
      return parseArgs({ args: rest, options: { ...common, ...options }, allowPositionals: true, allowNegative: true })
    } catch (error) {
      throw new UsageError((error as Error).message)
    }
  })()
  const { values, positionals: words } = parsed as { values: Given; positionals: string[] }
  if (values.help) return { values, words }
  const least = takes.filter((one) => !one.startsWith('[')).length
  if (words.length < least) throw new UsageError(`expected <${takes[words.length]}>, got nothing`)
  if (words.length > takes.length && !takes.at(-1)?.includes('…'))
    throw new UsageError(`expected ${takes.length === 0 ? 'nothing more' : takes.join(' ')}, got ${words.join(' ')}`)
  return { values, words }
}

/** The command that was meant, as far as one can tell. */
function unknown(words: string[]): string {
  const [first = ''] = words
  const verbs = Object.keys(commands).filter((name) => name.startsWith(`${first} `))
  if (verbs.length)
    return `sidejob ${first}: expected ${verbs.map((name) => name.split(' ')[1]).join(', ')}, got ${words[1] ?? 'nothing'}`
  return `sidejob: there is no command ${first}; sidejob --help lists them`
}

/**
 * Runs a command; answers its exit code.
 *
 * @example process.exitCode = await main(['ls', '--json'])
 */
export async function main(words: string[], io: (json: boolean) => Io = createIo): Promise<number> {
  const [before, asked] = optionsBefore(words)
  const found = commandOf(asked[0] === '--version' || asked[0] === '-v' ? ['version'] : asked)
  const plain = io(words.includes('--json'))
  if (!found) {
    const isHelp = words.length === 0 || words[0] === '--help' || words[0] === '-h'
    for (const line of isHelp ? overview() : [unknown(asked)]) plain.note(line)
    return isHelp ? 0 : 2
  }
  const [name, command, rest] = found
  try {
    const { values, words } = given([...before, ...rest], command)
    if (values.help) {
      for (const line of help(name, command)) plain.note(line)
      return 0
    }
    return (await command.run(createClient(targetOf(values)), values, plain, words)) ?? 0
  } catch (error) {
    plain.note(`sidejob ${name}: ${messageOf(error)}`)
    return error instanceof UsageError ? 2 : 1
  }
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.message}`
  if (error instanceof UsageError || error instanceof SidejobError) return error.message
  const { message, cause } = error as Error & { cause?: Error }
  return cause ? `${message}: ${cause.message}` : message
}
