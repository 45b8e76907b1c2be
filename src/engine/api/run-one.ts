import type { Status } from '../../core/job.ts'
import type { RunError } from '../../core/run.ts'
import { HOUR } from '../../core/units.ts'
import { refusalIn } from '../../redis/answers.ts'
import { ops, priorityText } from '../../redis/ops.ts'
import type { Ready } from '../../redis/types.ts'
import type { Context } from '../context.ts'

export type Performed = { id: number; class: string; status: Status; error?: Pick<RunError, 'message' | 'stack'> }

const FIRST = -(2 ** 31) - 1
/** The lease is longer than any run, so it needs no renewal. */
const LEASE = HOUR

export function createRunOne({ store, executor, constraints, ring }: Context) {
  let known: string[] = []

  async function ready() {
    const before = known
    const [names, ...lists] = await Promise.all([store.queueNames(), ...before.map((queue) => store.ready(queue))])
    known = names
    const added = names.filter((queue) => !before.includes(queue))
    return [...lists, ...(await Promise.all(added.map((queue) => store.ready(queue))))].flat()
  }

  const setPriority = (id: number, priority: number) =>
    store.change(String(id), [ops.patch({ fields: { priority: priorityText(priority) } })])

  async function lend({ id, queue, ahead }: Ready) {
    if (ahead > 0) await setPriority(id, FIRST)
    for (;;) {
      const answer = await store.commit({ queue, claim: { max: 1, lease: LEASE, begun: 1 } })
      await ring([...answer.rings, ...(await constraints.retag(answer))])
      if (answer.claimed.length > 0 || answer.stale.length === 0) return answer.claimed[0]
    }
  }

  async function performOne(job: Ready): Promise<Performed | undefined> {
    const claimed = await lend(job)
    const [settled] = await Promise.all([
      claimed && executor.run(claimed, { alone: true }),
      job.ahead > 0 && setPriority(job.id, job.priority),
    ])
    if (!settled) return undefined
    const { answers, rings } = await store.commit({ runs: [settled], version: executor.version })
    await ring(rings)
    const performed = { id: claimed!.id, class: claimed!.document.class }
    const answer = answers[0]!
    const refusal = refusalIn(answer)
    if (refusal) return { ...performed, status: 'failed', error: { message: refusal.message } }
    if (answer === 'lost' || answer === 'conflict') return undefined
    const error =
      settled.error === undefined ? undefined : (JSON.parse(store.vault.show.error(settled.error)) as RunError)
    return { ...performed, status: answer as Status, error }
  }

  return { ready, performOne }
}
