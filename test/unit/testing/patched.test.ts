import { beforeEach, describe, expect, test } from 'vitest'
import type { Job, Steps } from '../../../src/index.ts'
import { call } from '../../../src/testing/index.ts'
import { DAY, deployed, type Perform } from './deployed.ts'

const done: string[] = []
const note = (text: string) => () => void done.push(text)
beforeEach(() => void (done.length = 0))

const MOMENT = DAY * 100

async function finish(job: ReturnType<typeof deployed>['job']) {
  for (let n = 0; n < 100; n++) {
    const ran = await job.settle()
    if (ran && job.status !== 'queued' && job.status !== 'suspended') return ran
    job.advance(DAY)
  }
  throw new Error('it did not end')
}

async function edited(first: Perform, second: Perform, days: number) {
  const { job, edit } = deployed(first)
  await job.settle()
  for (let day = 0; day < days; day++) {
    job.advance(DAY)
    await job.settle()
  }
  edit(second)
  return finish(job)
}

describe('patched is', () => {
  const step = (job: Steps | Job, name: string) => job.step(name, note(name))
  const first: Perform = async (job) => {
    await step(job, 'a')
    await job.sleep('2 days')
    await step(job, 'b')
    await job.sleep('2 days')
    await step(job, 'c')
  }
  const patchedBefore =
    (name: string): Perform =>
    async (job) => {
      const patch = async (at: string) => {
        if (at === name && (await job.patched('audit'))) await step(job, 'audit')
      }
      await patch('a')
      await step(job, 'a')
      await patch('first sleep')
      await job.sleep('2 days')
      await patch('b')
      await step(job, 'b')
      await job.sleep('2 days')
      await patch('c')
      await step(job, 'c')
      await patch('end')
    }

  test.each([
    ['a', 'audit,a,b,c'],
    ['first sleep', 'a,audit,b,c'],
    ['b', 'a,audit,b,c'],
    ['c', 'a,b,audit,c'],
    ['end', 'a,b,c,audit'],
  ])('true for a new job, before %s', async (place, steps) => {
    await edited(patchedBefore(place), patchedBefore(place), 0)
    expect(done.join()).toBe(steps)
  })

  test.each([
    ['false', 'a', 0, 'a,b,c'],
    ['false before the wait in which the job is', 'first sleep', 0, 'a,b,c'],
    ['true behind it', 'b', 0, 'a,audit,b,c'],
    ['false', 'b', 2, 'a,b,c'],
    ['true behind the last wait', 'c', 2, 'a,b,audit,c'],
    ['true', 'end', 2, 'a,b,c,audit'],
  ])('%s for a job that waits: before %s, after %i days', async (_, place, days, steps) => {
    expect(await edited(first, patchedBefore(place), days)).toMatchObject({ end: 'completed' })
    expect(done.join()).toBe(steps)
  })

  test('false for one patch and true for another one behind the wait', async () => {
    const answers: boolean[][] = []
    await edited(
      first,
      async (job) => {
        const early = await job.patched('early')
        await step(job, 'a')
        await job.sleep('2 days')
        const late = await job.patched('late')
        await step(job, 'b')
        await job.sleep('2 days')
        await step(job, 'c')
        answers.push([early, late, await job.patched('early'), await job.patched('late')])
      },
      0,
    )
    expect(answers).toEqual([[false, true, false, true]])
  })

  test('the same for all turns of a loop, unless each turn has an id of its own', async () => {
    const loop =
      (patched: (job: Job, day: number) => Promise<boolean>): Perform =>
      async (job) => {
        for (let day = 0; day < 4; day++) {
          if (await patched(job, day)) await step(job, `audit ${day}`)
          await step(job, `day ${day}`)
          await job.sleep('1 day')
        }
      }
    const old = loop(async () => false)
    await edited(
      old,
      loop((job) => job.patched('audit')),
      1,
    )
    expect(done.join()).toBe('day 0,day 1,day 2,day 3')
    done.length = 0
    await edited(
      old,
      loop((job, day) => job.patched(`audit ${day}`)),
      1,
    )
    expect(done.join()).toBe('day 0,day 1,audit 2,day 2,audit 3,day 3')
  })

  const turns =
    (patched: (job: Job, at: Steps) => Promise<boolean>): Perform =>
    (job) =>
      job.each('day', 4, async (day, at) => {
        if (await patched(job, at)) await step(at, `audit ${day}`)
        await step(at, `day ${day}`)
        await at.sleep('1 day')
      })
  test('its own for each turn of job.each if the turn asks', async () => {
    await edited(
      turns(async () => false),
      turns((_, at) => at.patched('audit')),
      1,
    )
    expect(done.join()).toBe('day 0,day 1,audit 2,day 2,audit 3,day 3')
  })
  test('the same for all turns of job.each if the job asks', async () => {
    await edited(
      turns(async () => false),
      turns((job) => job.patched('audit')),
      1,
    )
    expect(done.join()).toBe('day 0,day 1,day 2,day 3')
    done.length = 0
    await edited(
      turns((job) => job.patched('audit')),
      turns((job) => job.patched('audit')),
      0,
    )
    expect(done.join()).toBe('audit 0,day 0,audit 1,day 1,audit 2,day 2,audit 3,day 3')
  })

  const branches =
    (patched: (at: Steps) => Promise<boolean>, last = false): Perform =>
    async (job) => {
      const branch = (days: number) => async (at: Steps) => {
        if (await patched(at)) await step(at, `early audit ${days}`)
        await at.sleep(`${days} days`)
        await step(at, `day ${days}`)
        if (last && (await at.patched('late'))) await step(at, `late audit ${days}`)
      }
      await job.parallel([branch(1), branch(3)])
      await job.sleep('1 day')
      await step(job, 'end')
    }
  test('its own for each branch of job.parallel', async () => {
    await edited(
      branches(async () => false),
      branches((at) => at.patched('early'), true),
      2,
    )
    expect(done.join()).toBe('day 1,late audit 1,day 3,late audit 3,end')
  })
  test('false in a branch that has ended if the job is past its branches', async () => {
    await edited(
      branches(async () => false),
      branches(async () => false, true),
      3,
    )
    expect(done.join()).toBe('day 1,day 3,end')
  })
  test('true in the branches of a new job', async () => {
    const perform = branches((at) => at.patched('early'), true)
    await edited(perform, perform, 0)
    expect(done.join()).toBe('early audit 1,early audit 3,day 1,late audit 1,day 3,late audit 3,end')
  })

  const chains =
    (patched: (job: Job) => Promise<boolean>): Perform =>
    async (job) => {
      const chain = async (name: string) => {
        await step(job, `${name}1`)
        if (await patched(job)) await step(job, `${name} audit`)
        await step(job, `${name}2`)
      }
      await Promise.all([chain('x'), chain('y')])
      await job.sleep('1 day')
      await step(job, 'end')
    }
  test('the same for concurrent chains of steps', async () => {
    const perform = chains((job) => job.patched('audit'))
    await edited(perform, perform, 0)
    expect(done.sort().join()).toBe('end,x audit,x1,x2,y audit,y1,y2')
    done.length = 0
    await edited(
      chains(async () => false),
      perform,
      0,
    )
    expect(done.sort().join()).toBe('end,x1,x2,y1,y2')
  })

  test('true again after a failure, and false after one if the job was past it', async () => {
    let fails = true
    const flaky: Perform = async (job) => {
      if (await job.patched('audit')) await step(job, 'audit')
      await job.step('charge', () => {
        if (fails) throw new Error('busy')
        done.push('charge')
      })
    }
    const { job } = deployed(flaky)
    await job.settle()
    fails = false
    job.advance(MOMENT)
    await job.settle()
    expect(done.join()).toBe('audit,charge')

    done.length = 0
    fails = true
    const old = deployed(async (job) => {
      await step(job, 'reserve')
      await flakyEnd(job)
    })
    const flakyEnd = (job: Job) =>
      job.step('charge', () => {
        if (fails) throw new Error('busy')
        done.push('charge')
      })
    await old.job.settle()
    fails = false
    old.edit(async (job) => {
      if (await job.patched('audit')) await step(job, 'audit')
      await step(job, 'reserve')
      if (await job.patched('second audit')) await step(job, 'second audit')
      await flakyEnd(job)
    })
    old.job.advance(MOMENT)
    expect(await old.job.settle()).toMatchObject({ end: 'completed' })
    expect(done.join()).toBe('reserve,second audit,charge')
  })

  test('true again in the next run of a repeating job that has completed', async () => {
    const answers: boolean[] = []
    const { job } = deployed(async (job) => {
      answers.push(await job.patched('audit'))
      await step(job, 'a')
      if (answers.length < 3) return job.again()
    })
    await job.settle()
    expect(answers).toEqual([true, true, true])
  })

  test('true in a function that only reads inputs', async () => {
    const { end, out } = await call(
      {
        class: 'reader',
        in: { n: {} },
        out: { m: {} },
        async perform(job: Job) {
          for await (const { n } of job.inputs('n')) job.write('m', [n, await job.patched('new')])
        },
      },
      { n: [1, 2] },
    )
    expect({ end, out }).toEqual({
      end: 'completed',
      out: {
        m: [
          [1, true],
          [2, true],
        ],
      },
    })
  })
})

describe('patched that is not awaited', () => {
  test('fails the run before it does anything new', async () => {
    const { job } = deployed(async (job) => {
      // @ts-expect-error: TypeScript finds this mistake too.
      if (job.patched('audit')) await job.step('audit', note('audit'))
    })
    expect((await job.settle())?.error).toMatchObject({
      message: 'job.patched was not awaited: the run ended without it; expected "await job.patched(…)"',
      retry: false,
    })
    expect(done).toEqual([])
  })
})

describe('a patch that is removed', () => {
  const patched: Perform = async (job) => {
    if (await job.patched('short trial')) await job.sleep('7 days', { name: 'short trial' })
    else await job.sleep('14 days', { name: 'trial' })
    await job.step('charge', note('charge'))
  }
  const after: Perform = async (job) => {
    await job.sleep('7 days', { name: 'short trial' })
    await job.step('charge', note('charge'))
  }

  test('leaves jobs on the new path as they are', async () => {
    expect(await edited(patched, after, 2)).toMatchObject({ end: 'completed' })
    expect(done).toEqual(['charge'])
  })
  test('fails jobs that are on the old path', async () => {
    const { job, edit } = deployed((job) => job.sleep('14 days', { name: 'trial' }))
    await job.settle()
    edit(patched)
    job.advance(DAY)
    await job.settle()
    edit(after)
    job.advance(DAY * 20)
    expect((await job.settle())?.error?.message).toContain(
      'job 1 has stored trial (sleep of 14d), but its function now requests short trial (sleep of 7d)',
    )
    expect(done).toEqual([])
  })
})

describe('a job with a patch that meets older code', () => {
  const old: Perform = async (job) => {
    await job.sleep('14 days')
    await job.step('charge', note('charge'))
  }
  const patched: Perform = async (job) => {
    if (await job.patched('short trial')) await job.sleep('1 day', { name: 'short trial' })
    else await job.sleep('14 days')
    await job.step('charge', note('charge'))
  }

  test('waits for newer code, which continues it', async () => {
    const { job, edit } = deployed(patched)
    await job.settle()
    edit(old)
    job.wake()
    const ran = await job.settle()
    expect(ran?.end).toBe('released')
    expect(ran?.error?.message).toBe(
      'job 1 has stored patch "short trial" and short trial (sleep of 1d), but this deployment lacks the patch: its ' +
        'function requested sleep#1 (sleep of 14d). A newer deployment has to run the job. Otherwise, the run fails one day after the patch was stored',
    )
    expect(job.status).toBe('queued')
    edit(patched)
    expect(await finish(job)).toMatchObject({ end: 'completed' })
    expect(done).toEqual(['charge'])
  })

  test('fails if no newer code came within a day', async () => {
    const { job, edit } = deployed(patched)
    await job.settle()
    edit(old)
    job.advance(DAY)
    const ran = await job.settle()
    expect(ran).toMatchObject({ end: 'failed', error: { retry: false } })
    expect(ran?.error?.message).toContain('job 1 has stored short trial (sleep of 1d)')
  })

  test.each(['warn', 'ignore'] as const)("continues with onCodeChange '%s'", async (onCodeChange) => {
    const { job, edit } = deployed(patched, { onCodeChange })
    await job.settle()
    edit(old)
    expect(await finish(job)).toMatchObject({ end: 'completed' })
  })

  test('is free to take the old path as long as it has kept nothing of the new one', async () => {
    const { job, edit } = deployed(async (job) => {
      if (await job.patched('audit')) throw new Error('busy')
    })
    await job.settle()
    edit(old)
    expect(await finish(job)).toMatchObject({ end: 'completed' })
    expect(done).toEqual(['charge'])
  })
})

describe('a wait that is named while a job waits', () => {
  test.each<[string, Perform, Perform]>([
    ['a sleep', (job) => job.sleep('14 days'), (job) => job.sleep('14 days', { name: 'trial' })],
    [
      'a wait for a port',
      (job) => job.waitFor('paid', { timeout: '14 days' }),
      (job) => job.waitFor('paid', { timeout: '14 days', name: 'money' }),
    ],
    [
      'two sleeps',
      async (job) => {
        await job.sleep('9 days')
        await job.sleep('5 days')
      },
      async (job) => {
        await job.sleep('9 days', { name: 'one' })
        await job.sleep('5 days', { name: 'two' })
      },
    ],
    [
      'the first of two sleeps',
      async (job) => {
        await job.sleep('9 days')
        await job.sleep('5 days')
      },
      async (job) => {
        await job.sleep('9 days', { name: 'one' })
        await job.sleep('5 days')
      },
    ],
    [
      'the second of two sleeps',
      async (job) => {
        await job.sleep('9 days')
        await job.sleep('5 days')
      },
      async (job) => {
        await job.sleep('9 days')
        await job.sleep('5 days', { name: 'two' })
      },
    ],
    [
      'branches',
      (job) => job.parallel([(at) => at.step('mail', note('mail')), (at) => at.sleep('14 days')]),
      (job) =>
        job.parallel([(at) => at.step('mail', note('mail')), (at) => at.sleep('14 days', { name: 'trial' })], {
          name: 'both',
        }),
    ],
  ])('%s: the wait does not become longer, and no step is repeated', async (_, first, second) => {
    for (const days of [0, 10]) {
      done.length = 0
      const { job, edit } = deployed(first)
      const until = async (end: number, from = 0) => {
        for (let day = from; day < end; day++) {
          job.advance(DAY)
          await job.settle()
        }
      }
      await job.settle()
      await until(days)
      edit(second)
      await until(13, days)
      expect(job.status).toBe('queued')
      await until(14, 13)
      expect(job.status).toBe('completed')
      expect(done).toHaveLength(second.toString().includes('mail') ? 1 : 0)
    }
  })

  test('a child keeps its name', async () => {
    const { job, edit } = deployed((job) => job.callWorker('label', {}))
    await job.settle()
    edit((job) => job.callWorker('label', {}, { name: 'first label' }))
    job.child('label#1', { status: 'completed', left: 7 })
    expect(await job.settle()).toMatchObject({ end: 'completed', result: 7 })
  })

  test('does not replace a wait of another length', async () => {
    const { job, edit } = deployed((job) => job.sleep('14 days'))
    await job.settle()
    edit(async (job) => {
      await job.sleep('1 hour', { name: 'new' })
      await job.sleep('14 days')
    })
    job.advance(DAY * 14)
    expect((await job.settle())?.error?.message).toContain(
      'job 1 has stored sleep#1 (sleep of 14d), but its function now requests new (sleep of 1h)',
    )
  })

  test('`as` is another spelling of `name`', async () => {
    const { job, edit } = deployed((job) => job.sleep('1 day', { as: 'pause' }))
    await job.settle()
    edit((job) => job.sleep('1 day', { name: 'pause' }))
    expect(await finish(job)).toMatchObject({ end: 'completed' })
  })
})
