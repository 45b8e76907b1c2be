import type { Repeat } from '../../../src/core/repeat.ts'
import { createEngine } from '../../../src/engine/index.ts'
import { defineWorker } from '../../../src/index.ts'
import { startKit } from '../../kit/index.ts'
import { type Random, seeded } from '../chaos/random.ts'
import { defineShow, exactly, told } from './show.ts'
import { createModifiers, createZone, type Wall } from './slots.ts'

const sizes = { jobs: 1_000, days: 365, from: 0, seed: 1 }
const FIRST_DAY = Date.UTC(2027, 0, 1)
const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000]
const LATE = { of: 500, by: 90 * SECOND }
const MISSED_STEP_MS = 100
const GAPS = [
  { after: 0.3, lasts: 3 * DAY },
  { after: 0.7, lasts: 10 * HOUR },
]

type Expected = {
  repeat: Repeat
  at?: number
  next: number
  follow: (slot: number, now: number) => number
  skips: boolean
}

type World = {
  random: Random
  start: number
  zoneOf: (zone: string) => ReturnType<typeof createZone>
  modify: ReturnType<typeof createModifiers>
}

const START_OF_DAY = 'start of day'

const words: [share: number, base: 'SCHEDULED' | 'STARTED' | 'FINISHED', modifiers: string[], canned?: string][] = [
  [15, 'SCHEDULED', ['+1 DAY']],
  [10, 'SCHEDULED', ['+7 DAYS']],
  [5, 'SCHEDULED', ['+1 MONTH']],
  [5, 'SCHEDULED', ['+1 DAY', 'weekday 1', START_OF_DAY, '+6 HOURS']],
  [1, 'SCHEDULED', ['+5 HOURS', '-30 MINUTES']],
  [3, 'STARTED', ['+12 HOURS']],
  [6, 'FINISHED', ['+1 DAY', START_OF_DAY, '+4 HOURS']],
  [1, 'FINISHED', ['+1 HOUR'], 'HOURLY'],
  [5, 'FINISHED', ['+1 DAY'], 'DAILY'],
  [4, 'FINISHED', ['+7 DAYS'], 'WEEKLY'],
]

function inWords([, base, modifiers, canned]: (typeof words)[number], { random, start, modify }: World): Expected {
  const at = start + (1 + random.int(48)) * 30 * MINUTE
  const skips = base === 'SCHEDULED' && random.chance(0.5)
  const bedrock = canned ?? [base, ...modifiers].join(', ').toUpperCase()
  return {
    repeat: skips ? { bedrock, missed: 'skip' } : bedrock,
    at,
    next: at,
    follow: (slot, now) => modify(base === 'SCHEDULED' ? slot : now, modifiers),
    skips,
  }
}

const zones = ['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata', 'Australia/Lord_Howe']
const days = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

type Pattern = { cron: string; hourly?: boolean; matches: (wall: Wall) => boolean }
const atTime = (wall: Wall, hour: number, minute: number) =>
  wall.getUTCHours() === hour && wall.getUTCMinutes() === minute

const patterns: [share: number, make: (random: Random, hour: number, minute: number) => Pattern][] = [
  [25, (_, hour, minute) => ({ cron: `${minute} ${hour} * * *`, matches: (wall) => atTime(wall, hour, minute) })],
  [
    10,
    (random, hour, minute) => {
      const day = random.int(7)
      return {
        cron: `${minute} ${hour} * * ${days[day]}`,
        matches: (wall) => atTime(wall, hour, minute) && wall.getUTCDay() === day,
      }
    },
  ],
  [
    6,
    (random, hour, minute) => {
      const date = 1 + random.int(31)
      return {
        cron: `${minute} ${hour} ${date} * *`,
        matches: (wall) => atTime(wall, hour, minute) && wall.getUTCDate() === date,
      }
    },
  ],
  [
    3,
    (_, __, minute) => ({
      cron: `${minute} */6 * * *`,
      matches: (wall) => wall.getUTCHours() % 6 === 0 && wall.getUTCMinutes() === minute,
    }),
  ],
  [
    1,
    (_, __, minute) => ({
      cron: `${minute} * * * *`,
      hourly: true,
      matches: (wall) => wall.getUTCMinutes() === minute,
    }),
  ],
]

function inCron([, make]: (typeof patterns)[number], { random, zoneOf }: World): Expected {
  const tz = random.pick(zones)
  const hour = random.chance(0.5) ? random.int(4) : random.int(24)
  const { cron, hourly = false, matches } = make(random, hour, random.pick([0, 30]))
  const slots = zoneOf(tz)(matches, { hourly })
  const places = new Map(slots.map((slot, n) => [slot, n]))
  const skips = random.chance(0.5)
  return {
    repeat: { cron, tz, missed: skips ? 'skip' : 'run' },
    next: slots[0] ?? Number.POSITIVE_INFINITY,
    follow: (slot) => slots[places.get(slot)! + 1] ?? Number.POSITIVE_INFINITY,
    skips,
  }
}

function manyOf(jobs: number, world: World): Expected[] {
  const kinds = [
    ...words.map((row) => ({ share: row[0], make: () => inWords(row, world) })),
    ...patterns.map((row) => ({ share: row[0], make: () => inCron(row, world) })),
  ]
  const deck = kinds.flatMap(({ share, make }) => Array.from({ length: share }, () => make))
  return Array.from({ length: jobs }, (_, n) => deck[Math.floor((n * deck.length) / jobs)]!())
}

/** Slots that are more than five minutes late are skipped. */
function lastDue(job: Expected, now: number): number[] {
  let last: number | undefined
  for (; job.next <= now; job.next = job.follow(job.next, now)) last = job.next
  return last !== undefined && now - last <= 5 * MINUTE ? [last] : []
}

function runsDue(job: Expected, now: number): number[] {
  if (job.skips) return lastDue(job, now)
  const slots: number[] = []
  while (job.next <= now) {
    slots.push(job.next)
    job.next = job.follow(job.next, now)
  }
  return slots
}

export const repeats = defineShow({
  title: 'repeating jobs, over a year of clock',
  sizes,
  async run({ jobs, days, from, seed }, say) {
    const random = seeded(seed)
    const start = FIRST_DAY + from * DAY
    const end = start + days * DAY
    let [now, stops] = [start, 0]
    const ran = new Map<number, number[]>()
    const worker = defineWorker({
      class: 'repeated',
      perform(job) {
        ran.set(job.id, [...(ran.get(job.id) ?? []), job.startedAt.getTime()])
      },
    })

    const kit = await startKit({ workers: [worker], hold: true })
    try {
      // The simulated clock does not move by itself.
      const engine = createEngine({ ...kit.engineOptions, clock: () => now - Date.now() })
      const zoned = new Map(zones.map((zone) => [zone, createZone(zone, start, end + 62 * DAY)]))
      const modify = createModifiers()
      const expected = manyOf(jobs, { random, start, zoneOf: (zone) => zoned.get(zone)!, modify })
      const made = await engine.jobs.enqueue(
        expected.map(({ repeat, at }) => ({ queue: 'default', class: 'repeated', repeat, ...(at ? { at } : {}) })),
      )
      const byId = new Map(made.jobs.map(({ id }, n) => [id, expected[n]!]))

      const gaps = GAPS.map(({ after, lasts }) => ({ at: start + after * days * DAY, lasts }))
      function nextStop(): number {
        const due = Math.min(...expected.map(({ next }) => next))
        if (gaps[0] && due >= gaps[0].at) return due + gaps.shift()!.lasts
        return random.int(LATE.of) === 0 ? due + LATE.by : due
      }

      /** Performs jobs without a lane, because a lane would wait for the simulated clock. */
      async function makeUp(): Promise<void> {
        for (let idle = 0; idle < 5; ) {
          const ran = await engine.performOne({ id: 0, queue: 'default', priority: 0, ahead: 0, since: '' })
          idle = ran ? 0 : idle + 1
          if (!ran) now += MISSED_STEP_MS
        }
      }

      let [wanted, seen, atSlot, after] = [0, 0, 0, 0]
      const wrong: string[] = []
      for (let stop = nextStop(); stop < end; stop = nextStop()) {
        now = stop
        stops++
        ran.clear()
        const due = new Map([...byId].map(([id, job]) => [id, runsDue(job, stop)]))
        await ([...due.values()].some(({ length }) => length > 1) ? makeUp() : engine.dispatch('default', ''))
        for (const [id, job] of byId) {
          const slots = due.get(id)!
          const runs = ran.get(id) ?? []
          wanted += slots.length
          seen += runs.length
          atSlot += slots.filter((slot) => slot === stop).length
          after += slots.filter((slot) => slot < stop).length
          const last = stop + SECOND + slots.length * MISSED_STEP_MS
          if (slots.length !== runs.length || runs.some((at) => at < stop || at >= last))
            wrong.push(`${JSON.stringify(job.repeat)} at ${new Date(stop).toISOString()}: ${runs} for ${slots}`)
        }
        if (stops % 5_000 === 0) say(`${new Date(now).toISOString().slice(0, 10)}: ${seen} runs in ${stops} stops`)
      }
      for (const line of wrong.slice(0, 10)) say(line)
      now = end
      const waiting: number[] = []
      for (const [id, { next }] of byId)
        if (next !== Number.POSITIVE_INFINITY && (await engine.schedules.get(String(id))).next[0] !== next)
          waiting.push(id)
      return [
        told('jobs', expected.length),
        told('stops of the clock', stops),
        exactly('runs', seen, wanted),
        told('runs in the second of their slot', atSlot),
        told('later runs: the clock came late, or slots were missed', after),
        exactly('jobs that ran at another moment, or not as often', wrong.length, 0),
        exactly('jobs that wait for another slot in the end', waiting.length, 0),
        exactly('faults in Redis', (await engine.doctor.verify()).length, 0),
      ]
    } finally {
      await kit.close()
    }
  },
})
