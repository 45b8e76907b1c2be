// Warns about waits without a name: an edit of the function can change the position that identifies such a wait.

import { createClient } from '../client/index.ts'
import type { WaitingJobInput } from '../core/waiting.ts'
import { isUnnamed, type Waited, waitText } from '../engine/run/code-change.ts'

const READ = 100

type Waiting = Pick<WaitingJobInput, 'servedBy' | 'snapshot'>

function waitsOf({ snapshot: { steps = {}, run } }: Waiting): string[] {
  const open = Object.entries(steps).filter(([key, value]) => {
    const wait = value as Waited | null
    if (!key.startsWith('~') || !wait?.kind || wait.done || !isUnnamed(key, wait)) return false
    return wait.kind !== 'sleep' || Math.ceil(wait.until!) >= run.startedAt
  })
  return open.map(([key, value]) => waitText(key, value as Waited).replaceAll(/\[\d+\]/g, ''))
}

function unnamedLines(jobs: readonly Waiting[], hasMore = false): Map<string, string> {
  const counts = new Map<string, { of: string; at: string; n: number }>()
  for (const job of jobs.filter(({ servedBy }) => servedBy !== null))
    for (const at of new Set(waitsOf(job))) {
      const of = job.snapshot.job.class
      const counted = counts.get(`${of} ${at}`) ?? { of, at, n: 0 }
      counts.set(`${of} ${at}`, { ...counted, n: counted.n + 1 })
    }
  const lines = [...counts].map(([key, { of, at, n }]): [string, string] => {
    const many = `${hasMore ? 'At least ' : ''}${n} ${n === 1 ? 'job' : 'jobs'} of class ${of} ${n === 1 ? 'waits' : 'wait'}`
    return [key, `${many} at ${at}. Name it before you add or remove waits around it: { name: '…' } in its options`]
  })
  return new Map(lines)
}

export function createUnnamed(say: (line: string) => void) {
  const reported = new Set<string>()
  return async ({ url, apiKey }: { url: string; apiKey: string }): Promise<void> => {
    const { jobs, cursor } = await createClient({ url, key: apiKey }).waiting.list({ limit: READ })
    for (const [key, line] of unnamedLines(jobs, cursor !== null)) {
      if (!reported.has(key)) say(line)
      reported.add(key)
    }
  }
}
