import { spawn } from 'node:child_process'
import { loginLink } from '../../dev/login-link.ts'
import type { Command } from '../command.ts'
import { targetOf } from '../target.ts'

const openers: Partial<Record<NodeJS.Platform, string>> = { darwin: 'open', win32: 'explorer' }

const NONE = `This Worker has no dashboard. Add it to the entry:
  import { dashboard } from 'sidejob/dashboard'
  createWorker({ …, dashboard: dashboard() })`

export const open: Command = {
  does: 'Open the dashboard or the page of a job in a browser, logged in',
  takes: ['[job]'],
  flags: ['url', 'key', 'profile', 'help'],
  async run(_client, given, { print, note }, [job]) {
    const link = await loginLink(targetOf(given), job && `/jobs/${encodeURIComponent(job)}`)
    if (link === undefined) {
      note(NONE)
      return 1
    }
    print(link)
    const browser = spawn(openers[process.platform] ?? 'xdg-open', [link], { stdio: 'ignore', detached: true })
    browser.once('error', () => undefined)
    browser.unref()
    return 0
  },
}

export const key: Command = {
  does: 'Print the API key that commands in this folder use',
  flags: ['url', 'profile', 'help'],
  async run(_client, given, { print, note }) {
    const { url, key } = targetOf(given)
    if (key) print(key)
    else
      note(
        `There is no key for ${url}. Run this in the folder of \`sidejob dev\` while it runs, or set SIDEJOB_API_KEY`,
      )
    return key ? 0 : 1
  },
}
