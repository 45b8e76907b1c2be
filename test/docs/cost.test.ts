import { expect, test } from 'vitest'
import { expectMade, table } from './made.ts'
import { titles } from './pages.ts'

/** Dollars. docs/cost.md names the sources. */
const price = {
  commands: 0.2 / 100_000,
  messages: 1 / 100_000,
  requests: 0.3 / 1_000_000,
}

const budgets = titles('test/redis/budgets.test.ts')

function counted(start: string, pattern: RegExp): number[] {
  const title = budgets.find((one) => one.startsWith(start))
  expect(title, `there is no budget that begins with ${start}`).toBeDefined()
  const found = pattern.exec(title!)
  expect(found, title).not.toBeNull()
  return found!.slice(1).map(Number)
}

const CALLS_AND_BILLED = /measured ([\d.]+)(?: calls)? and ([\d.]+)/
const [, bulk] = counted('a no-op job, enqueue to gone, in batches of 100', CALLS_AND_BILLED)
const [, alone] = counted('a no-op job alone, through a bell', CALLS_AND_BILLED)
const [, warm] = counted('a no-op job that a lane waits for', CALLS_AND_BILLED)
const [, eager] = counted('a no-op job alone, eager', CALLS_AND_BILLED)
const [ports] = counted('a run with one read and one write in a batch', /measured [\d.]+ and ([\d.]+)/)
const [family] = counted('a run with one read, one write and its own parent', /measured ([\d.]+)/)
const [limit] = counted('a run with one read, one write and its own limit', /measured ([\d.]+)/)
const [idle] = counted('a minute in which nothing happens', /measured ([\d.]+)/)

const MILLION = 1_000_000
const dollars = (amount: number) => (amount < 0.1 ? '< $0.10' : `$${amount.toFixed(amount < 10 ? 2 : 0)}`)

type Row = { what: string; commands: number; messages: number; invocations: number }

// 20 is the maximum number of messages in the test of 10,000 jobs.
const rows: Row[] = [
  { what: 'alone, through a bell', commands: alone!, messages: 1, invocations: 1 },
  { what: 'in a busy queue whose lane is waiting', commands: warm!, messages: 0, invocations: 0 },
  { what: 'alone, with `SIDEJOB_DISPATCH=eager`', commands: eager!, messages: 0, invocations: 0 },
  { what: 'one of many, created in calls of 1,000', commands: bulk!, messages: 20 / 10_000, invocations: 20 / 10_000 },
]

const parts: [what: string, commands: number][] = [
  ['a run that reads one value and writes one', ports!],
  ['a run that reads one value and writes one, if the job has a parent', family!],
  ['a run that reads one value and writes one, if the job has its own limit', limit!],
]

const MINUTES = 60 * 24 * 30
const ticks = MINUTES + MINUTES / 10

test('docs/cost.md matches the counts, at the prices that it names', async () => {
  await expectMade('cost.md', {
    'a million': table(
      ['a no-op job', 'Redis commands', 'QStash messages', 'price of a million: Redis', 'QStash', 'Workers'],
      rows.map(({ what, commands, messages, invocations }) => [
        what,
        String(commands),
        messages === 20 / 10_000 ? 'at most 0.002' : String(messages),
        dollars(commands * MILLION * price.commands),
        dollars(messages * MILLION * price.messages),
        dollars(invocations * MILLION * price.requests),
      ]),
    ),
    parts: table(
      ['a run in a batch of 100', 'Redis commands', 'price of a million'],
      parts.map(([what, commands]) => [what, String(commands), dollars(commands * MILLION * price.commands)]),
    ),
    idle: `A tick that finds no work costs ${idle} commands, or ${2 * idle!} if it starts a new isolate. Cloudflare's cron sends a tick each minute, and QStash's schedule every ten minutes. A month of 30 days costs ${(ticks * idle!).toLocaleString('en')} commands (${dollars(ticks * idle! * price.commands)}) and ${(MINUTES / 10).toLocaleString('en')} messages (${dollars((MINUTES / 10) * price.messages)}). Both fit into the vendors' free plans.`,
  })
})
