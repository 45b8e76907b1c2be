import { type Missed, parseRepeat, type Repeat } from '../../../src/core/repeat.ts'
import { createSchedules } from '../../../src/engine/api/schedules.ts'
import type { Context } from '../../../src/engine/context.ts'
import { repeatOf } from '../../../src/engine/jobs/new-job.ts'
import { repeatFields, repeatWords } from '../../../src/engine/jobs/patch-fields.ts'
import type { NewJob } from '../../../src/redis/new-job.ts'
import { ops, type Words } from '../../../src/redis/ops.ts'
import type { JobRecord } from '../../../src/redis/record.ts'
import type { Facts } from './judge.ts'
import type { SeenJob } from './redis.ts'
import type { World } from './world.ts'

export type Series = {
  repeat: Repeat
  base: 'scheduled' | 'started' | 'finished'
  period: number
  missed: Missed
  stopOnFail: boolean
}

const SECOND = 1_000

const cron = (expression: string, seconds: number, missed: Missed = 'last', stopOnFail = false): Series => ({
  repeat: { cron: expression, missed, ...(stopOnFail ? { stopOnFail } : {}) },
  base: 'scheduled',
  period: seconds * SECOND,
  missed,
  stopOnFail,
})

const interval = (base: Series['base'], seconds: number, missed: Missed = 'run', stopOnFail = false): Series => ({
  repeat: {
    bedrock: `${base.toUpperCase()}, +${seconds} SECONDS`,
    missed,
    ...(stopOnFail ? { stopOnFail } : {}),
  },
  base,
  period: seconds * SECOND,
  missed,
  stopOnFail,
})

const all: Series[] = [
  cron('*/20 * * * * *', 20, 'run'),
  cron('*/20 * * * * *', 20, 'last'),
  cron('*/30 * * * * *', 30, 'skip'),
  cron('* * * * *', 60),
  cron('*/2 * * * *', 120, 'skip'),
  cron('*/10 * * * * *', 10, 'last', true),
  interval('scheduled', 20),
  interval('scheduled', 15, 'last'),
  interval('scheduled', 25, 'skip', true),
  // A slot is skipped if it is five minutes late, so shorter periods would never skip a slot.
  cron('*/10 * * * *', 600, 'skip'),
  interval('scheduled', 500, 'skip'),
  interval('started', 30),
  interval('finished', 20),
]

const known = new Map(all.map((series) => [JSON.stringify(parseRepeat(series.repeat).source), series]))

export const seriesOf = ({ repeats }: JobRecord): Series => {
  const found = known.get(repeats!)
  if (!found) throw new Error(`no series repeats like ${repeats}`)
  return found
}

const MOST = 4
const repeating = ['stream', 'plain', 'parent', 'timer', 'narrow', 'paced', 'hand', 'alike', 'ward']

type Parts = {
  call: (label: string, job: number | '', words: Words[], facts: () => Partial<Facts>) => void
  enqueue: (job: NewJob) => void
  newJob: (className: string) => NewJob
}

export function createScheduleClients(world: World, { call, enqueue, newJob }: Parts) {
  const { store, random } = world
  const schedules = (): SeenJob[] => [...world.view.jobs.values()].filter(({ doc }) => doc.repeats !== undefined)
  let label = ''

  const verbs = createSchedules(
    {
      store,
      now: () => Math.floor(world.now),
      change: async (job: string, words: Words[]) => {
        call(label, Number(job), words, () => ({ meddled: true, rescheduled: [Number(job)] }))
        return { answer: [], rings: [] }
      },
    } as unknown as Context,
    {} as Parameters<typeof createSchedules>[1],
  )

  const told = (name: string, verb: (id: string) => Promise<unknown>) => () => {
    const found = schedules()
    if (found.length === 0) return
    const { id } = random.pick(found)
    world.after(0, async () => {
      label = name
      await verb(String(id)).catch((error: { code?: string }) => {
        if (error.code !== 'NOT_FOUND') throw error
      })
    })
  }

  function make(): void {
    if (schedules().length >= MOST) return
    const { repeat } = random.pick(all)
    enqueue({ ...newJob(random.pick(repeating)), ...repeatOf(repeat, Math.floor(world.now)) })
  }

  function change(): void {
    const found = schedules()
    if (found.length === 0) return
    const { id, doc } = random.pick(found)
    const fields = repeatFields(doc, random.pick(all).repeat, Math.floor(world.now))
    call('change schedule', id, repeatWords(doc, fields), () => ({ meddled: true, rescheduled: [id] }))
  }

  function give(): void {
    if (schedules().length >= MOST) return
    const found = [...world.view.jobs.values()].filter(({ doc }) => !doc.repeats && repeating.includes(doc.class))
    if (found.length === 0) return
    const { id, doc } = random.pick(found)
    const fields = repeatFields(doc, random.pick(all).repeat, Math.floor(world.now))
    call('give schedule', id, repeatWords(doc, fields), () => ({ meddled: true, rescheduled: [id] }))
  }

  const remove = (id: number): void =>
    call('delete schedule', id, [['delete', '', '1']], () => ({ meddled: true, rescheduled: [id] }))

  const end = told('end schedule', verbs.end)

  return {
    acts: [
      { weight: 6, act: make },
      { weight: 3, act: told('pause schedule', verbs.pause) },
      { weight: 4, act: told('resume schedule', verbs.resume) },
      { weight: 2, act: change },
      { weight: 2, act: give },
      { weight: 1, act: end },
      {
        weight: 1,
        act: () => {
          const found = schedules()
          if (found.length) remove(random.pick(found).id)
        },
      },
    ],

    isAny: (): boolean => schedules().length > 0,

    endAll(): void {
      for (const { id, doc } of schedules()) {
        const way = random.int(3)
        if (way === 0) call('terminate', id, [['terminate', '', '']], () => ({ meddled: true }))
        else if (way === 1) remove(id)
        else {
          const words = ops.patch({ fields: repeatFields(doc, null, world.now) })
          call('end schedule', id, [words], () => ({ meddled: true, rescheduled: [id] }))
        }
      }
    },
  }
}
