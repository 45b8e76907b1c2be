import { beforeEach, describe, expect, test } from 'vitest'
import type { Worker } from '../../../src/core/worker.ts'
import { DAY, deployed, type Perform } from './deployed.ts'

const done: string[] = []
const note = (text: string) => () => void done.push(text)
beforeEach(() => void (done.length = 0))

async function edited(first: Perform, second: Perform, options: Partial<Worker> = {}) {
  const { job, edit } = deployed(first, options)
  await job.settle()
  edit(second)
  job.advance(21 * DAY)
  const ran = await job.settle()
  return { job, ran, message: ran?.error?.message }
}

const keeps = (kept: string, now: string) => `job 1 has stored ${kept}, but its function ${now}. If the code changed`

describe('an edit of a function whose jobs wait', () => {
  test('that swaps two sleeps does not make the job sleep for the longer time twice', async () => {
    const { message, job } = await edited(
      async (job) => {
        await job.sleep('14 days')
        await job.sleep('1 hour')
      },
      async (job) => {
        await job.sleep('1 hour')
        await job.sleep('14 days')
      },
    )
    expect(message).toContain(keeps('sleep#1 (sleep of 14d)', 'now requests sleep#1 (sleep of 1h)'))
    expect(job.status).toBe('failed')
  })

  test('that renames a step neither repeats the step nor charges another amount', async () => {
    const { message } = await edited(
      async (job) => {
        const price = await job.step('price', () => 10)
        await job.sleep('3 days')
        await job.step('charge', note(`charge ${price}`))
      },
      async (job) => {
        const price = await job.step('price in cents', () => {
          done.push('priced again')
          return 1_000
        })
        await job.step('audit', note('audit'))
        await job.sleep('1 hour')
        await job.sleep('3 days')
        await job.step('charge', note(`charge ${price}`))
      },
    )
    expect(message).toContain(keeps('step "price"', 'now requests step "price in cents"'))
    expect(done).toEqual([])
  })

  test.each<[string, Perform, Perform, string, string]>([
    [
      'changes the length of a sleep',
      (job) => job.sleep('14 days'),
      (job) => job.sleep('7 days'),
      'sleep#1 (sleep of 14d)',
      'now requests sleep#1 (sleep of 7d)',
    ],
    [
      'changes the length of a sleep with a name',
      (job) => job.sleep('14 days', { name: 'grace' }),
      (job) => job.sleep('90 minutes', { name: 'grace' }),
      'grace (sleep of 14d)',
      'now requests grace (sleep of 1h30m)',
    ],
    [
      'makes a date of a length',
      (job) => job.sleep('14 days'),
      (job) => job.sleep(new Date(Date.now() + 14 * DAY * 1_000)),
      'sleep#1 (sleep of 14d)',
      'now requests sleep#1 (sleep until a date)',
    ],
    [
      'changes the port that it waits for, under one name',
      (job) => job.waitFor('paid', { timeout: '1 week', name: 'money' }),
      (job) => job.waitFor('other', { timeout: '1 week', name: 'money' }),
      'money (waitFor "paid", timeout 7d)',
      'now requests money (waitFor "other", timeout 7d)',
    ],
    [
      'changes the port that it waits for',
      (job) => job.waitFor('paid', { timeout: '1 week' }),
      (job) => job.waitFor('other', { timeout: '1 week' }),
      'paid#1 (waitFor "paid", timeout 7d)',
      'now requests other#1 (waitFor "other", timeout 7d)',
    ],
    [
      'changes a timeout',
      (job) => job.waitFor('paid', { timeout: '1 week' }),
      (job) => job.waitFor('paid', { timeout: '2 weeks' }),
      'paid#1 (waitFor "paid", timeout 7d)',
      'now requests paid#1 (waitFor "paid", timeout 14d)',
    ],
    [
      'waits for something of another kind',
      (job) => job.sleep('1 week', { name: 'pause' }),
      (job) => job.callWorker('remind', {}, { name: 'pause' }),
      'pause (sleep of 7d)',
      'now requests pause (callWorker "remind")',
    ],
    [
      'removes a wait',
      (job) => job.sleep('1 week'),
      async () => 'done',
      'sleep#1 (sleep of 7d)',
      'ended without requesting it',
    ],
    [
      'removes a step',
      async (job) => {
        await job.step('reserve', note('reserve'))
        await job.sleep('1 week')
      },
      (job) => job.sleep('1 week'),
      'step "reserve"',
      'ended without requesting it',
    ],
    [
      'removes a step before a wait that still lasts',
      async (job) => {
        await job.step('reserve', note('reserve'))
        await job.waitFor('paid')
      },
      async (job) => {
        await job.waitFor('paid')
      },
      'step "reserve"',
      'now requests paid#1 (waitFor "paid")',
    ],
    [
      'inserts a step before a kept wait',
      (job) => job.sleep('1 week'),
      async (job) => {
        await job.step('reserve', note('reserve'))
        await job.sleep('1 week')
      },
      'sleep#1 (sleep of 7d)',
      'now requests step "reserve"',
    ],
    [
      'renames a step of a branch',
      (job) => job.parallel([(at) => at.step('mail', note('mail')), (at) => at.sleep('1 week')]),
      (job) => job.parallel([(at) => at.step('e-mail', note('e-mail')), (at) => at.sleep('1 week')]),
      'step "mail" in parallel#1[0]',
      'now requests step "e-mail" in parallel#1[0]',
    ],
    [
      'changes the length of a sleep in a turn',
      (job) => job.each('month', 3, (_, at) => at.sleep('30 days')),
      (job) => job.each('month', 3, (_, at) => at.sleep('1 day')),
      'sleep#1 in month[0] (sleep of 30d)',
      'now requests sleep#1 in month[0] (sleep of 1d)',
    ],
  ])('that %s fails, naming both', async (_, first, second, kept, now) => {
    const { job, edit } = deployed(first)
    await job.settle()
    const before = [...done]
    edit(second)
    job.advance(40 * DAY)
    if (job.runAt === undefined) job.wake()
    const ran = await job.settle()
    expect(ran?.error?.message).toContain(keeps(kept, now))
    expect(ran?.error).toMatchObject({ retry: false })
    expect(done).toEqual(before)
  })

  test('fails also if the function catches errors', async () => {
    const { message } = await edited(
      (job) => job.sleep('14 days'),
      async (job) => {
        try {
          await job.sleep('1 hour')
        } catch {
          done.push('caught')
        }
      },
    )
    expect(message).toContain('now requests sleep#1 (sleep of 1h)')
    expect(done).toEqual([])
  })

  test('that is undone continues after a retry', async () => {
    const first: Perform = async (job) => {
      await job.sleep('14 days')
      return job.step('charge', () => 'charged')
    }
    const { job, edit } = deployed(first)
    await job.settle()
    edit(async () => 'nothing')
    job.advance(21 * DAY)
    expect((await job.settle())?.end).toBe('failed')
    edit(first)
    expect(await job.run()).toMatchObject({ end: 'completed', result: 'charged' })
  })
})

describe('onCodeChange', () => {
  const first: Perform = async (job) => {
    await job.step('price', () => 10)
    await job.sleep('14 days')
  }
  const second: Perform = async (job) => {
    await job.step('price in cents', () => 1_000)
    await job.sleep('1 hour')
    return 'done'
  }

  test("'warn' writes a log entry for each difference and continues", async () => {
    const { ran } = await edited(first, second, { onCodeChange: 'warn' })
    expect(ran).toMatchObject({ end: 'completed', result: 'done' })
    const entries = ran!.ops.flatMap((op) => (op.op === 'log' ? [JSON.parse(op.entry).message] : []))
    expect(entries).toEqual([
      expect.stringContaining(keeps('step "price"', 'now requests step "price in cents"')),
      expect.stringContaining(keeps('sleep#1 (sleep of 14d)', 'now requests sleep#1 (sleep of 1h)')),
    ])
  })

  test("'ignore' continues without a log entry", async () => {
    const { ran } = await edited(first, second, { onCodeChange: 'ignore' })
    expect(ran).toMatchObject({ end: 'completed', result: 'done' })
    expect(ran!.ops.some(({ op }) => op === 'log')).toBe(false)
  })
})

describe('a function that was not edited continues', () => {
  async function played(perform: Perform, options: Partial<Worker> = {}) {
    const { job } = deployed(perform, options)
    for (let n = 0; n < 60; n++) {
      const ran = await job.settle()
      if (ran && ran.end !== 'suspended' && job.status !== 'queued') return ran
      job.advance(DAY)
    }
    throw new Error('it did not end')
  }

  test.each<[string, Perform]>([
    [
      'a wait that timed out decides on its path',
      async (job) => {
        if (!(await job.waitFor('paid', { timeout: '1 day' }))) await job.step('remind', note('remind'))
        await job.sleep('3 days')
      },
    ],
    [
      'kept results decide on its path',
      async (job) => {
        const chance = await job.step('chance', () => Math.random())
        if (chance < 0.5) await job.sleep(`${Math.ceil(chance * 100)} minutes`)
        else await job.step('other', note('other'))
        await job.sleep('1 day')
      },
    ],
    [
      'it sleeps until a date that it computes in each run',
      async (job) => {
        await job.sleep(new Date(job.startedAt.getTime() + DAY * 1_000))
        await job.step('after', note('after'))
      },
    ],
    [
      'branches end in another order than they began',
      async (job) => {
        await job.parallel([
          async (at) => {
            await at.sleep('3 days')
            await at.step('slow', note('slow'))
          },
          async (at) => {
            for (let i = 0; i < 4; i++) {
              await at.step(`quick ${i}`, note('quick'))
              await at.sleep('1 day')
            }
          },
        ])
        await job.step('last', note('last'))
      },
    ],
    [
      'at most two of its branches go at once',
      (job) =>
        job.parallel(
          [1, 2, 3, 4].map((days) => async (at) => {
            await at.step('before', note('before'))
            await at.sleep(`${days} days`)
            await at.step('after', note('after'))
          }),
          { limit: 2 },
        ),
    ],
    [
      'chains of steps go at the same time without parallel',
      async (job) => {
        const chain = async (name: string, rest: number) => {
          for (let i = 0; i < rest; i++) await job.step(`${name}${i}`, () => null)
        }
        await Promise.all([chain('a', 3), chain('b', 5)])
        await job.sleep('1 day')
        await Promise.all([chain('c', 3), chain('d', 5)])
        await job.sleep('1 day')
      },
    ],
    [
      'one of two waits wins',
      async (job) => {
        await Promise.race([job.waitFor('paid'), job.sleep('2 days')])
        await job.step('after', note('after'))
      },
    ],
    [
      'it catches a step that fails, waits and tries again',
      async (job) => {
        for (let n = 1; n <= 5; n++) {
          try {
            await job.step('call', () => {
              done.push('call')
              if (done.length < 3) throw new Error('busy')
            })
            break
          } catch {
            await job.sleep('1 hour')
          }
        }
        await job.step('after', note('after'))
      },
    ],
    [
      'it comes back to a branch after another one has failed',
      async (job) => {
        try {
          await job.parallel(
            [
              async (at) => {
                await at.sleep('2 days')
                await at.step('break', () => {
                  throw new Error('broken')
                })
              },
              (at) => at.step('one', note('one')),
              (at) => at.step('two', note('two')),
            ],
            { limit: 2 },
          )
        } catch {
          await job.step('clean up', note('clean up'))
        }
        await job.sleep('1 day')
      },
    ],
    [
      'its turns are forgotten',
      (job) =>
        job.each('month', 5, async (month, at) => {
          await at.step('charge', note(`charge ${month}`))
          await at.sleep('1 day')
        }),
    ],
  ])('if %s', async (_, perform) => {
    const ran = await played(perform)
    expect(ran).toMatchObject({ end: 'completed' })
    expect(ran.error).toBeUndefined()
  })

  test('if it fails, and has read inputs since its first steps', async () => {
    let failures = 0
    const { job } = deployed(async (job) => {
      for await (const { paid } of job.inputs('paid'))
        await job.step(`value ${paid}`, () => {
          if (paid === 3 && ++failures === 1) throw new Error('once')
        })
    })
    job.write('paid', 1, 2, 3, 4)
    await job.settle()
    job.advance(60)
    expect(await job.settle()).toMatchObject({ end: 'completed' })
    expect(failures).toBe(2)
  })

  test('if it fails, and keeps its position in the state', async () => {
    let failures = 0
    const { job } = deployed(async (job) => {
      for (let part = job.get<number>('part') ?? 0; part < 4; part++) {
        await job.step(`part ${part}`, () => {
          if (part === 2 && ++failures === 1) throw new Error('once')
        })
        job.set({ part: part + 1 })
      }
    })
    await job.settle()
    job.advance(60)
    expect(await job.settle()).toMatchObject({ end: 'completed' })
    expect(failures).toBe(2)
  })
})

describe('an invalid duration', () => {
  test.each<[string, Perform]>([
    ['NaN', (job) => job.sleep(Number.NaN)],
    ['a negative number', (job) => job.sleep(-1)],
    ['an unknown unit', (job) => job.waitFor('paid', { timeout: '5 moons' })],
  ])('%s fails the run instead of waiting forever', async (_, perform) => {
    const { job } = deployed(perform)
    expect((await job.settle())?.error?.message).toContain('expected a duration')
  })
})

describe('a helper that is not awaited fails with what to write instead', () => {
  test.each<[string, Perform]>([
    ['sleep', async (job) => void job.sleep('1h')],
    ['waitFor', async (job) => void job.waitFor('paid')],
    ['callWorker', async (job) => void job.callWorker('other')],
    ['each', async (job) => void job.each('turn', 3, (_, at) => at.sleep('1h'))],
    ['parallel', async (job) => void job.parallel([(at) => at.sleep('1h')])],
  ])('%s', async (helper, perform) => {
    const { job } = deployed(perform)
    expect((await job.settle())?.error?.message).toBe(
      `job.${helper} was not awaited: the run ended without it; expected "await job.${helper}(…)"`,
    )
    expect(job.status).toBe('failed')
  })

  test('but not if it was begun before it is awaited', async () => {
    const { job } = deployed(async (job) => {
      const slept = job.sleep('1 day')
      await job.step('meanwhile', note('meanwhile'))
      await slept
      return 'done'
    })
    await job.settle()
    job.advance(DAY)
    expect(await job.settle()).toMatchObject({ end: 'completed', result: 'done' })
  })
})
