import { SidejobError } from '../../../src/core/errors.ts'
import { createStore } from '../../../src/redis/store.ts'
import type { Ring } from '../../../src/redis/types.ts'
import { CALLBACKS, limits, QUEUES } from './classes.ts'
import { constraintKeys } from './constraints.ts'
import { createJudge, type Facts, noFacts } from './judge.ts'
import { seeded } from './random.ts'
import { type Direct, nothing, type View, viewOf } from './redis.ts'

export type Request<A> = {
  label: string
  call: () => Promise<A>
  facts?: (answer: A) => Partial<Facts>
  outcome?: (answer: A) => string
  /** Not called if the caller has died. */
  got?: (answer: A) => void
  by?: Process
}

export type Process = { dead: boolean }

export type WorldOptions = { seed: number; redis: Direct }

export type Violation = { fault: string; detail: string; step: number }

const chances = {
  'request lost': 0.04,
  'answer lost': 0.05,
  'request doubled': 0.03,
  'asker dies': 0.02,
  'bell lost': 0.07,
  'bell doubled': 0.1,
  'bell late': 0.06,
  'bell not published': 0.02,
  'call lost': 0.07,
  'lane stalls': 0.06,
  'tick lost': 0.1,
} as const

/** Simulated milliseconds of a step. A step takes less real time, so real time does not affect the outcome. */
const STEP_MS = 50
/** Ten times the steps of the longest simulations. */
const MOST_STEPS = 5_000
/** Fixed, so that a seed always has the same minutes and days. */
const BEGIN = Date.UTC(2040, 0, 1, 12)

type Entry = { at: number; line: string; before?: View; after?: View }

function linesOf({ at, line, before, after }: Entry): string[] {
  const changed = [...(after?.jobs.values() ?? [])].flatMap(({ id, doc }) => {
    const text = JSON.stringify(doc)
    return text === JSON.stringify(before?.jobs.get(id)?.doc) ? [] : [`${' '.repeat(14)}${id} ${text}`]
  })
  const gone = [...(before?.jobs.keys() ?? [])].filter((id) => !after?.jobs.has(id))
  const time = ((at - BEGIN) / 1_000).toFixed(2).padStart(9)
  return [`${time}  ${line}${gone.length ? ` (gone: ${gone})` : ''}`, ...changed]
}

export function createWorld({ seed, redis }: WorldOptions) {
  const namespace = `chaos:${seed}:`
  const where = { ns: namespace, queues: [...QUEUES, CALLBACKS], limits: [...Object.keys(limits), ...constraintKeys] }
  const random = seeded(seed)
  const chanceText = seeded(seed ^ 0x5eed)
  let now = BEGIN
  let offset = now - Date.now()
  let order = 0
  let steps = 0
  let faulty = true
  let view = nothing
  const later: { at: number; order: number; act: () => void | Promise<void> }[] = []
  const violations: Violation[] = []
  const counts = new Map<string, number>()

  const store = createStore({
    client: redis.client,
    namespace,
    clock: () => offset,
    random: chanceText.text,
    packedFrom: 2,
  })
  const history: Entry[] = []
  const count = (kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1)
  function report(fault: string, detail: string): void {
    history.push({ at: now, line: `!! ${fault}: ${detail}` })
    violations.push({ fault, detail, step: steps })
  }
  const judge = createJudge(report)

  function strikes(what: keyof typeof chances): boolean {
    const struck = faulty && random.chance(chances[what])
    if (struck) count(`fault: ${what}`)
    return struck
  }

  function after(ms: number, act: () => void | Promise<void>): void {
    later.push({ at: now + ms, order: order++, act })
  }

  function moveTo(moment: number): void {
    now = Math.max(moment, now + STEP_MS, Date.now() + offset)
    offset = now - Date.now()
  }

  async function next(): Promise<void> {
    const first = later.reduce((a, b) => (b.at < a.at || (b.at === a.at && b.order < a.order) ? b : a))
    later.splice(later.indexOf(first), 1)
    moveTo(first.at)
    await first.act()
  }

  /** A refused call must have no effect. */
  async function step<A>({ label, call, facts, outcome }: Request<A>): Promise<A | undefined> {
    if (steps >= MOST_STEPS) throw new Error(`something goes round and round: ${label} after ${steps} steps`)
    const before = view
    const [settled, looked] = await redis.lookAfter(where, call)
    const refused = settled.status === 'rejected' ? settled.reason : undefined
    if (refused && !(refused instanceof SidejobError)) throw refused
    const answer = settled.status === 'fulfilled' ? settled.value : undefined
    const found = answer === undefined ? {} : (facts?.(answer) ?? {})
    const word = answer === undefined ? refused.code : outcome?.(answer)
    steps++
    count(word ? `${label}: ${word}` : label)
    view = viewOf(looked)
    history.push({ at: now, line: `${label} ${word ?? ''}`, before, after: view })
    judge.step({ before, after: view, facts: { ...noFacts(), ...found }, no: steps, now })
    return answer
  }

  const latency = () => random.between(20, faulty ? 400 : 60)

  function send<A>(request: Request<A>, delay = latency()): void {
    after(delay, async () => {
      if (request.by?.dead) return
      if (strikes('request lost')) return send(request, random.between(500, 3_000))
      const answer = await step(request)
      if (strikes('request doubled')) after(random.between(50, 40_000), () => step(request).then(() => undefined))
      if (strikes('answer lost')) return send(request, random.between(500, 12_000))
      if (strikes('asker dies')) return die(request.by)
      if (answer !== undefined && request.got)
        after(latency(), () => {
          if (!request.by?.dead) request.got!(answer)
        })
    })
  }

  function die(process?: Process): void {
    if (process) process.dead = true
  }

  let dispatch: (queue: string, bell: string) => void = () => undefined

  function ring(rings: Ring[]): void {
    for (const { queue, bell, at } of rings) {
      if (strikes('bell lost')) continue
      if (strikes('bell not published')) {
        send({ label: 'unring', call: () => store.change('', [['unring', queue, bell]]) })
        continue
      }
      const wait = Math.max(0, at === undefined ? 0 : Math.ceil(at / 1_000) * 1_000 - now)
      const times = strikes('bell doubled') ? 2 : 1
      const late = strikes('bell late') ? random.between(5_000, 60_000) : 0
      for (let i = 0; i < times; i++)
        after(wait + late + random.between(30, 600) + i * random.between(0, 30_000), () => dispatch(queue, bell))
    }
  }

  return {
    seed,
    namespace,
    random,
    store,
    judge,
    violations,
    counts,
    count,
    after,
    next,
    skip: (ms: number) => moveTo(now + ms),
    step,
    send,
    ring,
    strikes,
    latency,
    report,
    trace: (): string[] => history.flatMap(linesOf),
    answerBells: (how: typeof dispatch) => {
      dispatch = how
    },
    calm: () => {
      faulty = false
    },
    isDown: false,
    get now() {
      return now
    },
    get faulty() {
      return faulty
    },
    get view() {
      return view
    },
    get steps() {
      return steps
    },
    get pending() {
      return later.length
    },
  }
}

export type World = ReturnType<typeof createWorld>
