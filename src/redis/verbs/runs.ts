import { hasCode } from '../../core/errors.ts'
import { idIn } from '../../core/job.ts'
import { Lru } from '../../core/lru.ts'
import { tryRead } from '../../core/readable.ts'
import type { Reply } from '../answers.ts'
import type { RunOutcome } from '../changes.ts'
import { claimedJobs, claimedJobsIn } from '../claimed.ts'
import { isolating } from '../commits.ts'
import { packedRuns } from '../packed-runs.ts'
import { faultsOf, listWords, loadLeftOut, type Parts } from '../parts.ts'
import { decodeRecord } from '../record.ts'
import * as scripts from '../scripts.generated.ts'
import type { ClaimedJob, CommitAnswer, CommitRequest } from '../types.ts'
import type { Vault } from '../vault.ts'
import type { createJobs } from './jobs.ts'

const laneArgs = (lane: CommitRequest['lane']) => ({
  lane: lane?.id ?? '',
  seq: lane?.seq ?? 0,
  bell: lane?.bell ?? '',
  leave: lane?.leave === 'next' ? 'next' : lane?.leave ? '1' : '',
  waits: lane?.waits ?? 0,
  warm: lane?.warm ?? 0,
})

const claimArgs = (claim: CommitRequest['claim']) => ({
  place: claim?.pull ? 'p' : '',
  max: claim?.max ?? 0,
  wide: claim?.wide ?? 0,
  lease: claim?.lease ?? 0,
  begun: claim?.begun ?? 0,
  waiter: claim?.waiter?.id ?? '',
  wait: claim?.waiter?.wait ?? 0,
  only: claim?.only === undefined ? '' : String(claim.only),
  tier: claim?.priority === undefined ? '' : String(claim.priority),
  skip: claim?.skip ?? 0,
  calls: claim?.calls ?? -1,
  process: claim?.process ?? '',
})

function commitAnswer(reply: Reply<'committed'>, claimed: ClaimedJob[], answers: string[], vault: Vault): CommitAnswer {
  const { word, rings, nextDue, stale, version, failed, seen, signal } = reply
  return {
    word,
    answers,
    claimed,
    rings,
    ...(nextDue ? { nextDue: Number(nextDue.split(' ')[0]), dueIn: Number(nextDue.split(' ')[1]) } : {}),
    stale: stale.flatMap(({ id, document: text, side }) => {
      const document = tryRead(() => decodeRecord(text, side, vault.show))
      return document ? [{ id, document }] : []
    }),
    version,
    failed,
    seen,
    signal,
  }
}

const REMEMBERED = 1_000

export function createRuns(parts: Parts, change: ReturnType<typeof createJobs>['change']) {
  const { keys, call, markedBy, ids, moments, vault } = parts
  const fill = loadLeftOut(parts, vault.show)
  const quotas = new Lru<string, string[]>(REMEMBERED)
  const noteQuotas = (claimed: ClaimedJob[]): void => {
    for (const { id, document } of claimed)
      if (document.quotaBytes !== undefined) quotas.set(String(id), keys.quota(document.apiKey!))
  }

  const quotasOf = (runs: readonly RunOutcome[]): Set<string> =>
    new Set(quotas.size > 0 ? runs.flatMap(({ token }) => quotas.get(idIn(token)) ?? []) : [])

  const none: string[] = []
  const kindsOf = (runs: readonly RunOutcome[]): Set<string> =>
    new Set(runs.flatMap(({ failsIn }) => (failsIn === undefined ? none : keys.kinds(failsIn))))

  async function commit({ queue = '', runs = [], lane, claim, version = '' }: CommitRequest): Promise<CommitAnswer> {
    const sent = packedRuns(runs, lane !== undefined)
    const owners = sent.alone.map(({ token }) => idIn(token))
    const known = [
      ...(queue ? [keys.queue(queue)] : []),
      ...(queue && runs.length > 0 ? [keys.classCounts(queue)] : []),
      ...(lane ? [keys.lane(lane.id)] : []),
      keys.hints,
      keys.outbox,
      keys.listened,
      keys.schema,
      ...owners.map(keys.job),
      ...sent.pieces.map(({ piece }) => keys.piece(piece)),
      ...quotasOf(runs),
      ...kindsOf(runs),
    ]
    const marked = lane && !claim?.pull ? markedBy(lane.id) : {}
    const { patterns = [], tags = [] } = claim ?? {}
    const args = { ...marked, queue_name: queue, ...laneArgs(lane), ...claimArgs(claim), code: version }
    const words = [...listWords(patterns), ...listWords(tags), ...listWords(lane?.heard ?? []), ...sent.words()]
    const send = (careful: '' | '1') => call(scripts.commit, { ...args, careful }, { keys: known, rest: words })
    // After a failed claim, a careful claim removes only the faulty job from the queue.
    const reply = await send('').catch((error: unknown) => {
      if (!claim || runs.length > 0 || !hasCode(error, 'INTERNAL')) throw error
      return send('1')
    })
    for (const { job, what } of faultsOf(reply.faults, scripts.commit))
      console.error(`sidejob: job ${job} failed because of a fault in Redis: ${what}`)
    const { claimed, withSide } = claimedJobs(reply.claimed, vault)
    const answer = commitAnswer(reply, claimed, sent.answers(reply.answers), vault)
    ids.saw(answer.claimed)
    noteQuotas(answer.claimed)
    moments.saw(answer.claimed[0]?.document.ranAt)
    await fill(withSide)
    await fill(answer.stale)
    return answer
  }

  async function extension(
    queue: string,
    tokens: string[],
    lease: number,
    { lane = '', progress = '', own = false }: { lane?: string; progress?: string; own?: boolean } = {},
  ) {
    const owners = tokens.map((token) => keys.job(idIn(token)))
    const { ends, signal } = await call(
      scripts.extend,
      {
        queue_name: queue,
        lane,
        lease,
        progress: progress && vault.seal(progress, 'progress'),
        own: own ? '1' : '',
      },
      { keys: [keys.queue(queue), keys.hints, keys.listened, keys.schema, ...owners], rest: listWords(tokens) },
    )
    return {
      ends: ends.map((end) => (end === '' ? null : Number.parseInt(end, 10))),
      ending: tokens.filter((_, i) => ends[i]!.endsWith('!')),
      signal,
    }
  }

  const extend = async (...given: Parameters<typeof extension>) => (await extension(...given)).ends

  async function renew(queue: string, tokens: string[], lease: number, lane: string) {
    const { ends, ending } = await extension(queue, tokens, lease, { lane })
    return { ending, lost: tokens.filter((_, i) => ends[i] === null) }
  }

  async function heartbeat(token: string, lease: number, progress?: string) {
    const { ends, signal } = await extension('', [token], lease, { progress })
    return { leaseUntil: ends[0] ?? null, signal }
  }

  function lentByCall(call: string): ClaimedJob[] {
    const [word, ...documents] = call.split('\t')
    if (word !== 'lent') return []
    const claimed = documents.flatMap((text) => claimedJobsIn(text, vault))
    ids.saw(claimed)
    noteQuotas(claimed)
    moments.saw(claimed[0]?.document.ranAt)
    return claimed
  }

  return { commit: isolating(commit, change), extend, renew, heartbeat, lentByCall }
}
