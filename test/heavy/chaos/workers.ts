import { childrenOf } from '../../../src/redis/record.ts'
import type { ClaimedJob, CommitAnswer } from '../../../src/redis/types.ts'
import { behave, handBack, outputOf, type Peeked, type Plan, skip } from './behaviours.ts'
import { classes, isPacked, QUEUES, type Setting, TAG } from './classes.ts'
import type { ConstraintClients } from './constraints.ts'
import type { Ledger } from './ledger.ts'
import { idOf } from './redis.ts'
import type { Process, World } from './world.ts'

const BUDGET = 25_000
const RENEW = 15_000
const SOON = 2_000
const MINUTE = 60_000

type Lane = Process & { queue: string; id: string; started: number; seq: number; open: Set<string>; warm: number }

type Parts = {
  ledger: Ledger
  constraints: ConstraintClients
  settings: Record<string, Setting>
}

export function createWorkers(world: World, { ledger, constraints, settings }: Parts) {
  const { store, random, after } = world
  let minted = 0

  const leaseOf = (): number => (world.faulty && random.chance(0.3) ? 10_000 : 45_000)
  const durationOf = (): number => {
    if (!world.faulty) return random.between(30, 200)
    return random.chance(0.12) ? random.between(5_000, 50_000) : random.between(30, 4_000)
  }

  async function peek(claimed: ClaimedJob): Promise<Peeked> {
    const children = Object.entries(childrenOf(claimed.children)).filter(([, child]) => outputOf(child.class))
    if (children.length === 0 || !random.chance(0.6)) return []
    const rows = await store.peek(
      children.map(([, { id, class: name }]) => ({ id, dir: 'o', port: outputOf(name)! })),
      100,
    )
    return children.flatMap(([name, child], i) => {
      const row = rows[i]
      return row ? [{ name, child, taken: row.taken, values: row.items.map(idOf) }] : []
    })
  }

  /** Calls `done` without a plan if the response was lost. */
  function perform(by: Process, claimed: ClaimedJob, n: number, done: (plan?: Plan) => void): void {
    after(20, async () => {
      const passed = n === 0 && !by.dead && skip(claimed, world.now)
      if (passed) return done(passed)
      const peeked = await peek(claimed)
      after(durationOf(), async () => {
        const often = isPacked(claimed.document.class) ? 0.02 : 0.15
        const checkpoint = world.faulty && claimed.document.terminating !== '2' && random.chance(often)
        if (by.dead) return
        if (world.faulty && random.chance(0.04)) return done(handBack(claimed, n, world.now))
        const plan = await behave(world, claimed, n, peeked, checkpoint)
        if (!checkpoint) return done(plan)
        commitAlone(by, plan, (answer) => {
          const [fresh] = answer.claimed
          if (answer.answers[0] !== 'running' || !fresh) return done()
          if (fresh.document.token !== claimed.document.token)
            return world.report(
              "a checkpoint was answered with another run's snapshot",
              `${plan.key}: ${fresh.document.token}`,
            )
          perform(by, fresh, n + 1, done)
        })
      })
    })
  }

  function commitAlone(by: Process, plan: Plan, got?: (answer: CommitAnswer) => void): void {
    world.send({
      label: 'commit alone',
      by,
      call: () => store.commit({ queue: '', runs: [plan.settled] }),
      facts: ({ answers }) => ledger.commit([plan], answers),
      got: (answer) => {
        world.ring(answer.rings)
        got?.(answer)
      },
    })
  }

  function extend(by: Process, queue: string, tokens: () => string[], lease: number, lane = ''): void {
    let asked: string[] = []
    world.send({
      label: 'extend',
      by,
      call: () => {
        asked = tokens()
        return store.extend(queue, asked, lease, { lane })
      },
      facts: (leases) => ledger.heartbeat(asked, leases, lane),
    })
  }

  function renew(by: Process, queue: string, tokens: () => string[], lane = ''): void {
    after(RENEW, () => {
      if (by.dead || tokens().length === 0) return
      extend(by, queue, tokens, 45_000, lane)
      renew(by, queue, tokens, lane)
    })
  }

  function dispatch(queue: string, bell: string): void {
    if (world.isDown) return
    const warm = random.chance(0.5) ? 10_000 : 0
    ask({ queue, id: `L${++minted}`, started: world.now, seq: 0, open: new Set(), dead: false, warm }, [], bell)
  }

  function ask(lane: Lane, plans: Plan[], bell = ''): void {
    const seq = ++lane.seq
    const leave = world.now - lane.started >= BUDGET
    const lease = leaseOf()
    const begun = random.chance(0.5) ? 1 : 100
    const warm = world.faulty ? lane.warm : 0
    world.send({
      label: plans.length ? 'commit and claim' : 'claim',
      by: lane,
      call: () =>
        store.commit({
          queue: lane.queue,
          runs: plans.map(({ settled }) => settled),
          lane: { id: lane.id, seq, bell, leave: leave && warm ? 'next' : leave, warm },
          claim: { max: leave ? 0 : 100, lease, begun },
        }),
      facts: (answer) => {
        const again = ledger.claim(`${lane.id} ${seq}`, answer)
        const left = !again && answer.word === 'empty' ? [{ queue: lane.queue, looked: !leave }] : []
        return { ...ledger.commit(plans, answer.answers), left }
      },
      outcome: ({ word }) => word,
      got: (answer) => goOn(lane, answer, leave),
    })
  }

  function waitToBeCalled(lane: Lane, due: number): void {
    const end = Math.min(world.now + lane.warm, due)
    const hears = !world.strikes('call lost')
    const look = () => {
      const { wm, hd } = world.view.queues.get(lane.queue)!
      const isCalled = !wm?.startsWith(`${lane.id} `) || hd?.startsWith(`${lane.id} `)
      if ((isCalled && hears) || world.now >= end) return ask(lane, [])
      after(500, look)
    }
    after(500, look)
  }

  function goOn(lane: Lane, answer: CommitAnswer, left: boolean): void {
    const { word, claimed, rings, nextDue } = answer
    world.ring(rings)
    constraints.retag(lane, answer)
    if (word === 'full' || word === 'stale' || left) return
    if (word === 'warm') {
      waitToBeCalled(lane, nextDue ?? Number.POSITIVE_INFINITY)
      return
    }
    if (word === 'empty') {
      const wait = nextDue === undefined ? Number.POSITIVE_INFINITY : nextDue - world.now
      if (wait <= SOON) after(Math.max(0, wait), () => ask(lane, []))
      return
    }
    if (claimed.length === 0) ask(lane, [])
    else performAll(lane, claimed)
  }

  function performAll(lane: Lane, claimed: ClaimedJob[]): void {
    const plans: Plan[] = []
    let left = claimed.length
    const stalled = world.strikes('lane stalls')
    const finish = (token: string, plan?: Plan) => {
      lane.open.delete(token)
      if (plan) plans.push(plan)
      if (--left > 0) return
      after(stalled ? random.between(20_000, 120_000) : 0, () => ask(lane, plans))
    }
    for (const one of claimed) {
      const token = one.document.token!
      lane.open.add(token)
      const elsewhere = world.faulty && random.chance(0.05)
      if (elsewhere) performElsewhere(one)
      if (elsewhere) finish(token)
      else perform(lane, one, 0, (plan) => finish(token, plan))
    }
    if (!stalled) renew(lane, lane.queue, () => [...lane.open], lane.id)
  }

  function performElsewhere(claimed: ClaimedJob): void {
    const by = { dead: false }
    extend(by, claimed.document.queue, () => [claimed.document.token!], MINUTE)
    perform(by, claimed, 0, (plan) => plan && after(durationOf(), () => commitAlone(by, plan)))
  }

  function claimByHand(queue: string): void {
    const id = `P${++minted}`
    const lease = random.between(10_000, 45_000)
    const max = 1 + random.int(2)
    const patterns = random.chance(0.2) ? ['hand'] : []
    const tags = !world.faulty || random.chance(0.5) ? [TAG] : []
    const only = world.faulty && random.chance(0.1) ? someReady(queue) : undefined
    world.send({
      label: only ? 'claim of one' : 'claim by hand',
      call: () =>
        store.commit({
          queue,
          lane: { id, seq: 1 },
          claim: { max, lease: Math.round(lease), begun: max, pull: true, patterns, tags, only },
        }),
      facts: (answer) => {
        if (answer.claimed.length) ledger.claim(id, answer)
        return { meddled: only !== undefined }
      },
      outcome: ({ word, claimed }) => (claimed.length ? 'some' : word),
      got: (answer) => {
        world.ring(answer.rings)
        constraints.retag({ dead: false }, answer)
        for (const one of answer.claimed) performByHand(one)
      },
    })
  }

  function someReady(queue: string): number | undefined {
    const ready = [...world.view.jobs.values()].filter(
      ({ doc }) => doc.queue === queue && (!doc.place || doc.place === 'p'),
    )
    return ready.length ? random.pick(ready).id : undefined
  }

  function setDeadline({ id, document: { token: tk } }: ClaimedJob): void {
    const words = ['deadline', tk!, String(Math.round(world.now + random.between(5_000, MINUTE)))]
    world.send({ label: 'deadline', call: () => store.change(String(id), [words]), facts: () => ({ meddled: true }) })
  }

  function performByHand(claimed: ClaimedJob): void {
    const by = { dead: false }
    let open = [claimed.document.token!]
    if (world.faulty && random.chance(0.2)) setDeadline(claimed)
    if (random.chance(0.5)) renew(by, '', () => open)
    perform(by, claimed, 0, (plan) => {
      open = []
      if (plan) commitAlone(by, plan)
    })
  }

  const handsNeeded = (): string[] =>
    QUEUES.filter((queue) =>
      [...world.view.jobs.values()].some(
        ({ doc }) =>
          doc.queue === queue &&
          (classes[doc.class]?.pull || doc.tag || settings[queue]!.pull) &&
          !'scfT'.includes(doc.place ?? '-'),
      ),
    )

  async function tick(): Promise<void> {
    for (let more = true; more; ) {
      const answer = await world.step({ label: 'tick', call: () => store.tick(3) })
      more = answer!.more
      world.ring(answer!.rings)
    }
  }

  function ticks(): void {
    after(MINUTE, async () => {
      if (!world.isDown && !world.strikes('tick lost')) await tick()
      ticks()
    })
  }

  function hands(): void {
    after(world.faulty ? random.between(2_000, 9_000) : 6_000, () => {
      for (const queue of world.isDown ? [] : handsNeeded()) claimByHand(queue)
      hands()
    })
  }

  world.answerBells(dispatch)
  ticks()
  hands()
  return { dispatch, tick }
}
