// sidejob open: the page of the sidejob that one talks to, in a browser.

import { spawn } from 'node:child_process'
import type { Command } from '../command.ts'
import { targetOf } from '../target.ts'

const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' }

export const open: Command = {
  does: 'opens its page in a browser, or prints the address where there is none',
  async run(_client, given, { print }) {
    const { url } = targetOf(given)
    print(url)
    const browser = spawn(openers[process.platform] ?? 'xdg-open', [url], { stdio: 'ignore', detached: true })
    browser.once('error', () => undefined)
    browser.unref()
  },
}
