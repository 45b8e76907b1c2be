import type { Encoded } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { parseRepeat, shiftLength } from '../../core/repeat.ts'
import type { Call, DeliveredJob, JobInput } from '../../engine/engine.ts'
import type { Engine } from '../../engine/index.ts'
import { mergePatch, readData } from './data.ts'
import { type Given, momentOf, needName, priorityOf } from './given.ts'
import { ownedJob, QUEUE, withJob } from './jobs.ts'
import { Refusal, refusals } from './refusal.ts'
import { isManual, isTaken, MOCK, waitsForChildren } from './shown.ts'

const MOST_DELIVERIES = 10

type Wanted = {
  name: string
  data: Encoded
  priority?: number
  firstRun?: number
  retryAfter?: string
  parent?: string
  unique: boolean
  overwrites: boolean
  repeat?: string
}

const retryAfterOf = (text: string | undefined): string | undefined => {
  if (!text) return undefined
  try {
    shiftLength(text)
    return text
  } catch {
    throw refusals.malformed('retryAfter')
  }
}

export const repeatIn = (text: string | undefined): string | undefined => {
  if (!text) return undefined
  try {
    return parseRepeat(text).source as string
  } catch {
    throw refusals.malformed('repeat')
  }
}

const parentOf = (text: string | undefined): string | undefined => {
  const id = Number.parseInt(text ?? '', 10) || 0
  return id === 0 ? undefined : String(id)
}

// Checks parameters in Bedrock's order, so that the first error is the same.
const wantedOf = (from: Given): Wanted => ({
  name: needName(from),
  priority: priorityOf(from('jobPriority') ?? from('priority')),
  data: readGiven(from('data')),
  retryAfter: retryAfterOf(from('retryAfter')),
  firstRun: momentOf(from('firstRun'), 'firstRun'),
  parent: parentOf(from('parentJobID')),
  unique: from('unique') === 'true',
  overwrites: ['true', '', undefined].includes(from('overwrite')),
  repeat: from('repeat'),
})

const readGiven = (text: string | undefined): Encoded => (text === undefined ? '{}' : readData(text).own)

type Parents = Map<string, DeliveredJob>

async function parentsOf(engine: Engine, wanted: Wanted[]): Promise<Parents> {
  const ids = [...new Set(wanted.flatMap(({ parent }) => parent ?? []))]
  const found = await Promise.all(ids.map((id) => ownedJob(engine, id, refusals.noParent())))
  for (const parent of found) if (!isTaken(parent) && !waitsForChildren(parent)) throw refusals.parentState()
  return new Map(found.map((parent) => [String(parent.id), parent]))
}

/** The parent decides whether the jobs of a call are mocked. */
function mocks(asked: boolean, parents: Parents): boolean {
  const kinds = new Set([...parents.values()].map(({ tag }) => tag === MOCK))
  if (kinds.size > 1) throw new Refusal(405, 'Parent and child jobs must have matching mockRequest setting')
  return kinds.size === 1 ? [...kinds][0]! : asked
}

function checkGrandchildren(parents: Parents): void {
  if ([...parents.values()].some(({ parent }) => parent !== null)) throw new Refusal(405, 'Cannot create grandchildren')
}

const inputOf = (
  { name, data, priority = 0, firstRun, retryAfter, parent, unique, repeat }: Wanted,
  mocked: boolean,
) => {
  const input: JobInput = {
    queue: QUEUE,
    class: name,
    args: data,
    at: firstRun,
    priority,
    unique: mocked ? MOCK : '',
    uniqueness: { held: 'deleted', hit: unique ? 'same parent' : 'ignored' },
    ...(mocked ? { tag: MOCK } : {}),
    ...(parent === undefined ? { retain: 0 } : { parent, joins: true }),
    ...(retryAfter ? { redeliver: { after: retryAfter, ...(isManual(name) ? {} : { max: MOST_DELIVERIES }) } } : {}),
    ...(repeat && !mocked ? { repeat: { bedrock: repeat, stopOnFail: true } } : {}),
  }
  return input
}

// Redis refuses a job with one of these codes if its parent has changed since it was checked, or if its unique name
// belongs to a child of another parent.
const refusedBy: Partial<Record<SidejobError['code'], () => Refusal>> = {
  NOT_FOUND: refusals.noParent,
  WRONG_STATUS: refusals.parentState,
  CONFLICT: refusals.otherParent,
}

const inWords = (error: unknown): never => {
  const known = error instanceof SidejobError ? refusedBy[error.code] : undefined
  throw known ? known() : error
}

const merge = (engine: Engine, job: number, { data, repeat, priority = 0 }: Wanted): Promise<void> =>
  withJob(engine, String(job), async ({ id, args }) => {
    const was = args ?? '{}'
    if (was === data) return
    const bedrock = repeat ? { bedrock: repeat, stopOnFail: true } : null
    const amendment = { args: mergePatch(was, data), was, priority, repeat: bedrock, dueAt: 'same' as const }
    await engine.deliveries.update(String(id), amendment)
  })

export async function createAll(engine: Engine, given: Given[], asksMock: boolean, call: Call): Promise<number[]> {
  const wanted = given.map(wantedOf)
  const parents = await parentsOf(engine, wanted)
  for (const one of wanted) one.repeat = repeatIn(one.repeat)
  const mocked = mocks(asksMock, parents)
  checkGrandchildren(parents)
  const inputs = wanted.map((one) => inputOf(one, mocked))
  const { jobs } = await engine.jobs.enqueue(inputs, call).catch(inWords)
  const found = [...jobs.entries()].filter(([i, { existing }]) => existing && wanted[i]!.overwrites)
  if (found.length > 0) {
    // The answer to the key of the call is stored before the merge, so the merge needs its own key.
    const key = call.key && `merge ${call.key}`
    await engine.deliveries.once({ ...call, key }, async () => {
      for (const [i, { id }] of found) await merge(engine, id, wanted[i]!)
    })
  }
  return jobs.map(({ id }) => id)
}
