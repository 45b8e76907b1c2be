import { hasCode, type SidejobError } from '../../core/errors.ts'
import { PLACE } from '../../redis/marks.ts'
import { statusOf } from '../../redis/record.ts'
import type { Store } from '../../redis/store.ts'
import type { Inspection } from '../../redis/types.ts'
import type { Why, WhyLimit, WhyLink } from '../engine.ts'
import { runOf } from '../run/job-facts.ts'
import { roomOf } from './limits.ts'
import { isPausedInSteps, reasonsOf } from './why.ts'

const LOOKED_AT = 5
const HOLDERS = 5

export type Ask = Pick<Store, 'inspect' | 'steps' | 'room' | 'vault'>

async function linkOf(store: Ask, inspection: Inspection): Promise<WhyLink> {
  const { id, document: doc } = inspection
  const steps = isPausedInSteps(inspection) ? (await store.steps(id, '0', store.vault.show)).steps : {}
  return {
    job: id,
    class: doc.class,
    queue: doc.queue,
    status: statusOf(doc),
    running: doc.place === PLACE.leased,
    run: runOf(doc),
    reasons: reasonsOf(inspection, steps),
  }
}

async function limitOf(store: Ask, { reasons }: WhyLink): Promise<WhyLimit | undefined> {
  const key = reasons.find(({ code }) => code === 'LIMITED')?.key
  const room = key === undefined ? undefined : await store.room(key, { holders: HOLDERS, waiting: 1 })
  return room && { ...roomOf(key!, room), holders: room.holders }
}

function causesOf({ job, reasons }: WhyLink): number[] {
  for (const reason of reasons) {
    const jobs = reason.job === undefined ? ((reason.data.jobs as number[] | undefined) ?? []) : [reason.job]
    if (jobs.length > 0) return jobs.filter((id) => id !== job).slice(0, LOOKED_AT)
  }
  return []
}

const lastsUntil = ({ run, reasons }: WhyLink): number =>
  run ? run.leaseUntil : (reasons.find(({ until }) => until !== undefined)?.until ?? Number.POSITIVE_INFINITY)

const damaged = (job: number, { message }: SidejobError): WhyLink => ({
  job,
  class: '',
  queue: '',
  status: 'queued',
  running: false,
  run: null,
  reasons: [{ code: 'UNREADABLE', message, data: {}, since: 0 }],
})

async function lookAt(store: Ask, id: number, known?: Inspection): Promise<WhyLink[]> {
  try {
    return [await linkOf(store, known ?? (await store.inspect(String(id))))]
  } catch (error) {
    if (hasCode(error, 'UNREADABLE')) return [damaged(id, error)]
    if (hasCode(error, 'NOT_FOUND')) return []
    throw error
  }
}

export async function followWaits(store: Ask, job: string, deep: number): Promise<Why> {
  const found = await store.inspect(job, { deep }).catch((error: SidejobError) => {
    if (!hasCode(error, 'UNREADABLE')) throw error
    return damaged(Number(/job (\d+)/.exec(error.message)?.[1]), error)
  })
  if ('reasons' in found) return found
  const first = await linkOf(store, found)
  if (deep === 0) return first
  const chain: WhyLink[] = []
  let last: WhyLink = first
  const seen = new Set([first.job])
  while (chain.length < deep) {
    const causes = causesOf(last).filter((id) => !seen.has(id))
    const links = (await Promise.all(causes.map((id) => lookAt(store, id, found.chain?.get(id))))).flat()
    if (links.length === 0) break
    const latest = links.reduce((a, b) => (lastsUntil(b) > lastsUntil(a) ? b : a))
    const isPart = found.chain?.get(latest.job)?.isWhole === false
    last = (isPart && (await lookAt(store, latest.job))[0]) || latest
    seen.add(last.job)
    chain.push(last)
  }
  const limit = await limitOf(store, last)
  if (limit) last.limit = limit
  return { ...first, chain }
}
