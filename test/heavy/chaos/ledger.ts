import type { CommitAnswer } from '../../../src/redis/types.ts'
import type { Plan } from './behaviours.ts'
import { type Facts, noFacts } from './judge.ts'
import type { World } from './world.ts'

const MINUTE = 60_000
const MARGIN = 1_000

export function createLedger(world: World) {
  const answered = new Map<string, { answer: string; at: number }>()
  const lastOf = new Map<number, string>()
  const lentTo = new Map<string, Set<string>>()
  const done = new Map<string, string>()

  function checkRepeated({ key, job }: Plan, answer: string): void {
    const known = answered.get(key)!
    if (known.answer === answer) return
    const forgotten = lastOf.get(job) !== key || world.now - known.at > MINUTE
    if (answer !== 'lost' || !forgotten)
      world.report('a repeated commit got another answer', `${key}: ${known.answer}, ${answer}`)
  }

  const docOf = (token: string) => world.view.jobs.get(Number.parseInt(token, 10))?.doc

  const isLent = (token: string): boolean => {
    const doc = docOf(token)
    return doc?.token === token && doc.leaseUntil! > world.now + MARGIN
  }

  const isEnding = (token: string): boolean => isLent(token) && docOf(token)!.terminating === '1'

  function checkLost(token: string): void {
    if (isLent(token)) world.report('a run with a valid lease got the answer lost', token)
  }

  function checkHeld({ job, settled: { token } }: Plan): void {
    const doc = world.view.jobs.get(job)?.doc
    if (doc && (doc.token !== token || doc.leaseUntil! <= world.now))
      world.report('a run whose lease had ended was committed', token)
  }

  function add(facts: Facts, plan: Plan, answer: string): void {
    const { key, settled } = plan
    if (answered.has(key)) {
      checkRepeated(plan, answer)
      return
    }
    answered.set(key, { answer, at: world.now })
    world.count(`commit ${settled.end}: ${answer.split(' ', 1)[0]}`)
    if (settled.end === 'checkpoint' && isEnding(settled.token)) stop(facts, plan, answer)
    else if (answer === 'lost') checkLost(settled.token)
    else count(facts, plan, answer)
  }

  function stop(facts: Facts, { settled: { token } }: Plan, answer: string): void {
    world.count('checkpoint of a job that is to end')
    if (answer !== 'lost') world.report('a run whose job is to end went on', `${token}: ${answer}`)
    facts.ended.push(token)
    facts.stopped.push(token)
  }

  function count(facts: Facts, plan: Plan, answer: string): void {
    const { key, job, settled } = plan
    lastOf.set(job, key)
    checkHeld(plan)
    if (settled.words.includes('retry') && settled.end === 'failed' && answer === 'queued') facts.delayed.push(job)
    if (answer !== 'running') facts.ended.push(settled.token)
    if (answer === 'conflict') return
    const { end } = settled
    if (end === 'skipped' || answer.startsWith('refused') || (end !== 'checkpoint' && end !== 'released'))
      facts.slots.push({ job, planned: plan.planned, isSkipped: end === 'skipped' })
    if (end !== 'checkpoint' && end !== 'released' && end !== 'skipped') facts.committed.push(job)
    if (answer.startsWith('refused') || settled.end === 'failed') return
    for (const [field, list] of Object.entries(plan.facts))
      if (Array.isArray(list)) (facts[field as 'must'] as unknown[]).push(...list)
    facts.meddled ||= plan.facts.meddled
  }

  return {
    commit(plans: Plan[], answers: string[]): Facts {
      const facts = noFacts()
      for (const [i, answer] of answers.entries()) add(facts, plans[i]!, answer)
      return facts
    },

    heartbeat(tokens: string[], leases: (number | null)[], lane: string): Partial<Facts> {
      for (const [i, token] of tokens.entries()) {
        const hears = lane === '' && isEnding(token)
        if (hears) world.count('heartbeat of a job that is to end')
        if (hears && leases[i] !== null) world.report('a run did not hear that its job is to end', token)
        if (!hears && leases[i] === null) checkLost(token)
      }
      return {}
    },

    /** Redis stores no answer if it refuses a lane that committed nothing, so a repeated claim may get jobs. */
    claim(key: string, { claimed, word, answers }: CommitAnswer): boolean {
      const tokens = claimed.map(({ document }) => document.token!)
      const known = lentTo.get(key)
      if (!known && word === 'full' && answers.length === 0) {
        if (tokens.length) world.report('a refused lane got a lease', `${key}: ${tokens}`)
        return false
      }
      if (!known) lentTo.set(key, new Set(tokens))
      for (const token of known && word !== 'stale' ? tokens : [])
        if (!known!.has(token)) world.report('a repeated claim lent something new', `${key}: ${token}`)
      return known !== undefined
    },

    isFirst(key: string, answer: string[]): boolean {
      const known = done.get(key)
      const said = JSON.stringify(answer)
      if (known === undefined) done.set(key, said)
      else if (known !== said) world.report('a repeated call got another answer', `${key}: ${known}, ${said}`)
      return known === undefined
    },
  }
}

export type Ledger = ReturnType<typeof createLedger>
