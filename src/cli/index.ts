#!/usr/bin/env node
// sidejob <command>: what people do from a shell. Everything goes over the API, with SIDEJOB_URL and SIDEJOB_API_KEY.

import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { ApiError, createClient } from '../client/index.ts'
import { SidejobError } from '../core/errors.ts'
import { callbacksResend } from './callbacks-resend.ts'
import { type Command, type Io, UsageError } from './command.ts'
import { doctor } from './doctor.ts'
import { download } from './download.ts'
import { filesPurge } from './files-purge.ts'

const commands: Record<string, Command> = {
  doctor,
  download,
  'callbacks resend': callbacksResend,
  'files purge': filesPurge,
}

function commandOf(words: string[]): [name: string, command: Command, rest: string[]] | undefined {
  const name = Object.keys(commands).find((one) => words.slice(0, one.split(' ').length).join(' ') === one)
  return name === undefined ? undefined : [name, commands[name]!, words.slice(name.split(' ').length)]
}

function overview(): string[] {
  const rows = Object.entries(commands).map(([name, { does }]) => `  ${name.padEnd(18)} ${does}`)
  return ['sidejob <command>', ...rows, 'sidejob <command> --help says more']
}

function help(name: string, { does, options }: Command): string[] {
  const rows = Object.entries(options).map(([option, { type, short, default: usual, does }]) => {
    const words = `${short ? `-${short}, ` : ''}--${option}${type === 'string' ? ' <…>' : ''}`
    return `  ${words.padEnd(24)} ${does}${usual ? ` (${usual})` : ''}`
  })
  return [`sidejob ${name}: ${does}`, ...rows]
}

const WIDTH = 30

function createIo(): Io {
  const { stdout, stderr, stdin } = process
  let bar = false
  let tenths = 0
  const clear = () => {
    if (bar) stderr.write('\r\x1b[K')
    bar = false
  }
  return {
    print(line) {
      clear()
      stdout.write(`${line}\n`)
    },
    note(line) {
      clear()
      stderr.write(`${line}\n`)
    },
    progress(done, total, words) {
      if (!stderr.isTTY) {
        // In a file a line for each tenth is enough.
        const reached = Math.floor((10 * done) / Math.max(1, total))
        if (reached > tenths) stderr.write(`${done} of ${total}, ${words}\n`)
        tenths = reached
        return
      }
      const full = Math.round((WIDTH * done) / Math.max(1, total))
      stderr.write(`\r\x1b[K[${'='.repeat(full)}${' '.repeat(WIDTH - full)}] ${done} of ${total}, ${words}`)
      bar = true
    },
    get lines() {
      return createInterface({ input: stdin })
    },
  }
}

function given(rest: string[], { options }: Command) {
  try {
    const { values } = parseArgs({ args: rest, options: { ...options, help: { type: 'boolean', short: 'h' } } })
    return values as Record<string, string | boolean | undefined>
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

async function main(words: string[]): Promise<number> {
  const io = createIo()
  const found = commandOf(words)
  if (!found) {
    for (const line of overview()) io.note(line)
    return words.length === 0 || words[0] === '--help' ? 0 : 2
  }
  const [name, command, rest] = found
  try {
    const values = given(rest, command)
    if (values.help) {
      for (const line of help(name, command)) io.note(line)
      return 0
    }
    const { SIDEJOB_URL = 'http://127.0.0.1:8787', SIDEJOB_API_KEY = 'dev' } = process.env
    return await command.run(createClient({ url: SIDEJOB_URL, key: SIDEJOB_API_KEY }), values, io)
  } catch (error) {
    io.note(`sidejob ${name}: ${messageOf(error)}`)
    return error instanceof UsageError ? 2 : 1
  }
}

function messageOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.status} ${error.message}`
  if (error instanceof UsageError || error instanceof SidejobError) return error.message
  const { message, cause } = error as Error & { cause?: Error }
  return cause ? `${message}: ${cause.message}` : message
}

process.exitCode = await main(process.argv.slice(2))
