import type { Constraint } from '../../../src/core/constraint.ts'
import { kinds } from './constraints.ts'
import { MARGIN, type Report, type Step } from './judge.ts'
import type { SeenJob } from './redis.ts'

type Start = { key: string; at: number }

export function createBoundsJudge(report: Report) {
  const since = new Map<string, { text: string; tokens: Map<string, Start> }>()

  function learn({ after }: Step): void {
    for (const [name, text] of Object.entries(after.constraints.list))
      if (since.get(name)?.text !== text) since.set(name, { text, tokens: new Map() })
    for (const name of since.keys()) if (after.constraints.list[name] === undefined) since.delete(name)
  }

  function begins({ after, now }: Step, name: string, { id, doc }: SeenJob): void {
    const key = kinds[name]!.keyOf(doc)
    if (key === undefined) return
    const { text, tokens } = since.get(name)!
    const { concurrency = Infinity, rate } = JSON.parse(text) as Constraint
    if (!doc.heldLimits?.split('\n').includes(key)) report('a constraint does not count a run', `${id}: ${key}`)
    tokens.set(doc.token!, { key, at: doc.ranAt! })
    const starts = [...tokens].filter(([, start]) => start.key === key)
    const open = new Set(
      [...after.jobs.values()].flatMap(({ doc: { token, leaseUntil } }) => (leaseUntil! > now + MARGIN ? [token] : [])),
    )
    const together = starts.filter(([token]) => open.has(token)).length
    if (together > concurrency)
      report('a constraint was exceeded', `${key}: ${together} at once, at most ${concurrency}`)
    const recent = starts.filter(([, { at }]) => rate && at > doc.ranAt! - rate.period).length
    if (rate && recent > rate.limit)
      report('the rate of a constraint was exceeded', `${key}: ${recent} in ${rate.period} ms, at most ${rate.limit}`)
  }

  return (step: Step): void => {
    const { before, after, facts } = step
    learn(step)
    for (const job of after.jobs.values()) {
      const { id, doc } = job
      if (doc.token === undefined || doc.token === before.jobs.get(id)?.doc.token) continue
      // Claims of a job by id ignore limits, and shutdown runs ignore new constraints.
      if (facts.meddled || doc.terminating) continue
      if ((doc.constraintsVersion ?? '') !== after.constraints.version)
        report('a job was claimed under an earlier version of the constraints', `${id}: ${doc.constraintsVersion}`)
      for (const name of since.keys()) begins(step, name, job)
    }
  }
}
