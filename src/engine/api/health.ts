import type { SidejobError } from '../../core/errors.ts'
import { examinedView } from '../../core/examined.ts'
import { remedies } from '../../core/remedies.ts'
import type { Client } from '../../redis/client.ts'
import type { Store } from '../../redis/store.ts'
import type { Health } from '../engine.ts'
import type { Bells } from '../lane/bells.ts'
import type { History } from './history.ts'

export type HealthParts = {
  client: Client
  store: Store
  bells: Bells
  version: string
  isTenant: boolean
  history?: Pick<History, 'problemOf'>
}

type PartialState = Partial<Awaited<ReturnType<Store['systemState']>>> & { error?: SidejobError }
type Problem = NonNullable<Health['problems']>[number]
type Trouble = { why: string; refused: number }

const redisProblem = ({ code, message }: SidejobError): Problem => ({
  of: 'redis',
  code,
  message,
  remedy: remedies[code].remedy,
})

const bellsProblem = ({ why, refused }: Trouble): Problem => ({
  of: 'qstash',
  code: 'UNAVAILABLE',
  message: why,
  inARow: refused,
  remedy:
    'check the message quota of your QStash plan and `QSTASH_TOKEN`; until then, ticks serve the queues once a minute',
})

const nouns: Record<string, string> = { job: 'job', jobs: 'piece', queue: 'queue', limit: 'limit', workers: 'class' }

/** Does not name jobs, because `/health` can be called without a key. */
function dataProblem(keys: readonly string[]): Problem {
  const counts = [...Map.groupBy(keys, (key) => nouns[key.split(':')[0]!] ?? 'other')]
  const kinds = counts.map(([noun, found]) => `${noun}: ${found.length}`).join(', ')
  return {
    of: 'data',
    code: 'UNREADABLE',
    message: `records in Redis could not be read (${kinds})`,
    remedy: '`sidejob doctor` names each of them; `sidejob doctor --repair --yes` repairs them or sets them aside',
  }
}

const historyProblem = (message: string): Problem => ({
  of: 'history',
  code: 'UNAVAILABLE',
  message,
  remedy: 'check the database that is bound as `HISTORY`; ended jobs wait in Redis until it stores them',
})

/** Testing QStash would cost a message, so this returns the last known answer of QStash. */
export function createHealth({ client, store, bells, version, isTenant, history }: HealthParts) {
  return {
    async health(): Promise<Health> {
      const before = client.fault?.()
      const start = Date.now()
      const asked: PartialState = await store.systemState().catch((error: SidejobError) => ({ error }))
      const ms = Date.now() - start
      const {
        error: down,
        restored,
        trouble: stored,
        tickAt = null,
        tickBy = null,
        bellAt = null,
        examined,
        unreadable = [],
        outbox,
      } = asked
      const unstored = history?.problemOf(outbox)
      const fault = down ?? before
      const trouble = bells.trouble() ?? stored
      const problems = [
        ...(fault ? [redisProblem(fault)] : []),
        ...(trouble ? [bellsProblem(trouble)] : []),
        ...(unreadable.length > 0 ? [dataProblem(unreadable)] : []),
        ...(unstored ? [historyProblem(unstored)] : []),
      ]
      return {
        ok: !down,
        redis: !down,
        ...(down ? {} : { ms, bellAt, ...(isTenant ? {} : { tickAt, tickBy }) }),
        version,
        restored: restored ?? undefined,
        examined: examined ? examinedView(examined) : undefined,
        problems: problems.length > 0 ? problems : undefined,
      }
    },
  }
}
