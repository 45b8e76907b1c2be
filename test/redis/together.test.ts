import { expect, test } from 'vitest'
import { canWaitForOthers, createTogether } from '../../src/redis/together.ts'

function start({ refuses = false, patience = 1_000 } = {}) {
  const asked: string[] = []
  const gates: (() => void)[] = []
  const gate = () => new Promise<void>((resolve) => gates.push(resolve))
  const ask = createTogether<string, string>({
    async alone(call) {
      asked.push(call)
      await gate()
      if (call.startsWith('bad')) throw new Error(call)
      return call.toUpperCase()
    },
    async together(calls) {
      asked.push(calls.join('+'))
      await gate()
      if (calls.includes('lost')) throw new Error('lost')
      return refuses ? undefined : calls.map((call) => call.toUpperCase())
    },
    suits: (call, others) => !others.includes(call),
    patience,
  })
  return {
    asked,
    ask,
    async open() {
      for (const go of gates.splice(0)) go()
      await new Promise((resolve) => setTimeout(resolve, 5))
    },
  }
}

test('a single call is sent at once; later calls are sent together, each with its own answer', async () => {
  const { ask, asked, open } = start()
  const answers = Promise.all(['a', 'b', 'c'].map(ask))
  expect(asked).toEqual(['a'])
  await open()
  expect(asked).toEqual(['a', 'b+c'])
  await open()
  expect(await answers).toEqual(['A', 'B', 'C'])
  void ask('d')
  expect(asked.at(-1)).toBe('d')
})

test('calls that cannot be combined are sent one after the other', async () => {
  const { ask, asked, open } = start()
  const answers = Promise.all(['a', 'b', 'b', 'c'].map(ask))
  for (let i = 0; i < 3; i++) await open()
  expect(asked).toEqual(['a', 'b+c', 'b'])
  expect(await answers).toEqual(['A', 'B', 'B', 'C'])
})

test('if a group of calls is refused, each call is sent alone, and only the bad call fails', async () => {
  const { ask, asked, open } = start({ refuses: true })
  const answers = Promise.allSettled(['a', 'b', 'bad', 'c'].map(ask))
  for (let i = 0; i < 3; i++) await open()
  expect(asked[1]).toBe('b+bad+c')
  expect([...asked.slice(2)].sort()).toEqual(['b', 'bad', 'c'])
  expect((await answers).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled'])
})

test('a call that is refused alone does not delay later calls', async () => {
  const { ask, asked, open } = start()
  const answers = Promise.allSettled(['bad', 'b'].map(ask))
  await open()
  await open()
  expect(asked).toEqual(['bad', 'b'])
  expect((await answers).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

test('a group without an answer fails for all of its calls', async () => {
  const { ask, open } = start()
  const answers = Promise.allSettled(['a', 'b', 'lost'].map(ask))
  await open()
  await open()
  expect((await answers).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
})

test('a group whose first caller disappears delays later calls only for a short time', async () => {
  const { ask, asked, open } = start({ patience: 50 })
  void ask('gone')
  const answer = ask('b')
  await new Promise((resolve) => setTimeout(resolve, 80))
  expect(asked).toEqual(['gone', 'b'])
  void ask('c')
  expect(asked).toEqual(['gone', 'b', 'c'])
  await open()
  expect(await answer).toBe('B')
})

function startAnswered() {
  let now = 0
  const asked: string[] = []
  const ask = createTogether<string, string>({
    async alone(call) {
      asked.push(call)
      return call
    },
    async together(calls) {
      asked.push(calls.join('+'))
      return calls
    },
    suits: () => true,
    elapsed: () => now,
  })
  return {
    asked,
    ask,
    later(ms: number) {
      now += ms
    },
  }
}

test('frequent calls wait for the next call; after a pause, a call does not wait', async () => {
  const { ask, asked, later } = startAnswered()
  for (let i = 0; i < 20; i++) {
    later(4)
    await Promise.all([ask('often'), ask('and often')])
  }
  asked.length = 0
  const both = [ask('a'), ask('b')]
  expect(asked).toEqual([])
  expect(await Promise.all(both)).toEqual(['a', 'b'])
  expect(asked).toEqual(['a+b'])
  later(5_000)
  void ask('later')
  expect(asked.at(-1)).toBe('later')
})

test('a sequential caller does not wait for calls that never come', async () => {
  const { ask, asked, later } = startAnswered()
  for (let i = 0; i < 40; i++) {
    later(2)
    await ask('often')
  }
  asked.length = 0
  void ask('now')
  expect(asked).toEqual(['now'])
})

test('a request waits for more calls if the runtime wakes it in its own invocation', () => {
  const of = (flag?: boolean) => ({
    Cloudflare: { compatibilityFlags: flag === undefined ? {} : { handle_cross_request_promise_resolution: flag } },
  })
  expect([of(true), of(false), of()].map(canWaitForOthers)).toEqual([true, false, false])
  expect(canWaitForOthers({}), 'without this runtime').toBe(true)
})
