import type { Call, DeliveredJob, Delivery } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { type Given, isSet, leadingNumber, needText, priorityOf } from './given.ts'
import { QUEUE } from './jobs.ts'
import { Refusal, refusals } from './refusal.ts'
import { MOCK, taken } from './shown.ts'

const MOST_NAMES = 12_750
/** In milliseconds. */
const TIMEOUT = 110_000

/** A single name is a glob. If there are several names, each matches only itself. */
const globsOf = (text: string): string[] => {
  const names = text
    .split(',')
    .map((name) => name.replace(/^ +/, ''))
    .filter(Boolean)
  return names.length < 2 ? [text] : names.map((name) => name.replace(/[*?[]/g, '[$&]'))
}

const countOf = (from: Given, many: boolean): number => {
  const text = from('numResults')
  if (!many && text !== undefined) throw new Refusal(402, 'Cannot use numResults with GetJob; try GetJobs')
  if (many && text === undefined) throw refusals.missing('numResults')
  return Math.max(1, leadingNumber(text))
}

const waitOf = (from: Given): number => {
  if (from('Connection')?.toLowerCase() !== 'wait') return 0
  const timeout = from('timeout')
  return timeout === undefined ? TIMEOUT : Math.max(0, leadingNumber(timeout))
}

async function parentsOf(engine: Engine, deliveries: Delivery[]): Promise<Map<number, DeliveredJob>> {
  const ids = [...new Set(deliveries.flatMap(({ job }) => job.parent?.id ?? []))]
  const wards = await Promise.all(ids.map((id) => engine.deliveries.get(String(id)).catch(() => undefined)))
  return new Map(wards.filter((found) => found !== undefined).map((found) => [found.id, found]))
}

export type Taken = { jobs: Record<string, unknown>[]; tokens: string[] }

export async function take(
  engine: Engine,
  from: Given,
  many: boolean,
  call: Call & { signal: AbortSignal },
): Promise<Taken> {
  const name = needText(from, 'name', MOST_NAMES)
  const max = countOf(from, many)
  const priority = priorityOf(from('jobPriority'))
  const wait = waitOf(from)
  const mocked = isSet(from, 'mockRequest') || isSet(from, 'getMockedJobs')
  const lending = { names: globsOf(name), max, priority, wait, tags: mocked ? [MOCK] : [] }
  const { deliveries, failed } = await engine.deliveries.claim(QUEUE, lending, call)
  // A delivery to a disconnected caller does not count.
  if (call.signal.aborted) await engine.deliveries.giveBack(deliveries, call)
  // If all jobs that the claim found have failed, the response is empty instead of 404.
  if (deliveries.length === 0 && failed === 0)
    throw wait > 0 ? new Refusal(303, 'Timeout') : new Refusal(404, 'No job found')
  const parents = await parentsOf(engine, deliveries)
  return { jobs: deliveries.map((delivery) => taken(delivery, parents)), tokens: deliveries.map(({ token }) => token) }
}
