import { SidejobError } from '../core/errors.ts'
import { tryRead } from '../core/readable.ts'
import { type Row, rowOf } from './answers.ts'
import { PIECE } from './packed-jobs.ts'
import { decodeRecord, type JobRecord, openedRecord, ownInputsOf } from './record.ts'
import type { ClaimedJob, EndedChild } from './types.ts'
import { isSealed, type Vault } from './vault.ts'

export function claimedJob(
  { document: text, inputs, side, steps, family, moreSteps, fault, piece: _, ...claimed }: Row<'claimed'>,
  vault: Pick<Vault, 'open'>,
  waiting?: number,
): ClaimedJob {
  const { open } = vault
  const document = decodeRecord(text, side, open)
  const id = waiting ?? Number(document.token!.slice(0, document.token!.indexOf('.')))
  return {
    id,
    document,
    ...claimed,
    steps: steps.map((word, i) => (i % 2 === 0 ? word : open.value(word, 'step'))),
    family: family.map((child) => endedChildOf(child, vault)),
    inputs: {
      ...ownInputsOf(document),
      ...Object.fromEntries(inputs.map(({ port, items }) => [port, items.map(open.item)])),
    },
    ...(moreSteps ? { moreSteps: true as const } : {}),
    ...(fault
      ? { fault: { code: fault.slice(0, fault.indexOf(' ')), message: fault.slice(fault.indexOf(' ') + 1) } }
      : {}),
  }
}

const HEX = 16
const SEQUENCE = 13
const LOW = 256
const lowDigits = Array.from({ length: LOW }, (_, n) => n.toString(HEX).padStart(2, '0'))

/** Formatting each number separately is slow, so the high digits are formatted once. */
export function sequencesFrom(first: string): (place: number) => string {
  const since = Number.parseInt(first, HEX)
  const low = since % LOW
  const high = (more: number) => (Math.floor(since / LOW) + more).toString(HEX).padStart(SEQUENCE - 2, '0')
  const [here, next] = [high(0), high(1)]
  return (place) => (low + place < LOW ? here : next) + lowDigits[(low + place) % LOW]
}

function packedOf(text: string, piece: string, vault: Vault): ClaimedJob[] {
  const [mask, first, state, common, args, more] = text.split('\n') as [string, string, string, string, string, string?]
  const record = decodeRecord(`{"n":"${first}",${state}${common}}`)
  const sequenceOf = sequencesFrom(first)
  const token = record.token!.slice(1)
  const texts = JSON.parse(args) as string[]
  const fields = Object.entries(JSON.parse(more ?? '{}') as Record<`${string}:${string}`, string[]>)
  if (![texts, ...fields.map(([, each]) => each)].every((list) => list.length >= mask.length))
    throw new Error('the mask of a pack is longer than its values')
  const isAnySealed = isSealed(text)
  const jobs: ClaimedJob[] = []
  for (let place = 0; place < mask.length; place++) {
    if (mask[place] !== '1') continue
    const id = Number(piece) * PIECE + place
    const own = texts[place]!
    const document: JobRecord = { ...record, sequence: sequenceOf(place), token: id + token }
    if (own) document.args = own
    for (const [field, each] of fields) document[field as 'vi:n'] = each[place]!
    const job: ClaimedJob = { ...bare(id), document }
    if (fields.length > 0 && !isAnySealed) job.inputs = ownInputsOf(document)
    jobs.push(isAnySealed ? opened(job, vault) : job)
  }
  return jobs
}

const bare = (id: number) => ({ id, inputs: {}, children: [], steps: [], childCount: 0, family: [], wires: [] })

function opened(job: ClaimedJob, vault: Vault): ClaimedJob {
  try {
    const document = openedRecord(job.document, vault.open)
    return { ...job, document, inputs: ownInputsOf(document) }
  } catch (error) {
    return { ...job, fault: faultOf(job.document.token!, error) }
  }
}

const jobsOfRow = (row: Row<'claimed'>, vault: Vault): ClaimedJob[] =>
  row.piece === undefined ? jobsOrFault(row, vault) : readablePiece(row.document, row.piece, vault)

/** A damaged piece (lib/runtime/pieces.lua) stays leased until its lease expires. */
function readablePiece(text: string, piece: string, vault: Vault): ClaimedJob[] {
  const jobs = tryRead(() => packedOf(text, piece, vault))
  if (!jobs) console.error(`sidejob: piece ${piece} cannot be read: run sidejob doctor`)
  return jobs ?? []
}

function faultOf(token: string, error: unknown): NonNullable<ClaimedJob['fault']> {
  console.error(`sidejob: job ${token} cannot be read: ${error}`)
  return error instanceof SidejobError
    ? { code: error.code, message: error.message }
    : { code: 'INTERNAL', message: 'the stored data of this job cannot be read: run sidejob doctor' }
}

function jobsOrFault(row: Row<'claimed'>, vault: Vault): ClaimedJob[] {
  try {
    return [claimedJob(row, vault)]
  } catch (error) {
    const document = tryRead(() => decodeRecord(row.document, [], vault.show))
    const token = document?.token ?? /"tk":"([^"]*)"/.exec(row.document)?.[1] ?? ''
    const fault = faultOf(token, error)
    if (!document) return []
    return [{ ...bare(Number.parseInt(token, 10)), document, fault }]
  }
}

export const claimedJobsIn = (document: string, vault: Vault): ClaimedJob[] =>
  jobsOrFault(rowOf('claimed', [document]), vault)

export function claimedJobs(rows: Row<'claimed'>[], vault: Vault) {
  const jobs = rows.map((row) => jobsOfRow(row, vault))
  return { claimed: jobs.flat(), withSide: jobs.flatMap((some, i) => (rows[i]!.side.length ? some : [])) }
}

const endedChildOf = ({ args, left, ...child }: EndedChild, { open }: Pick<Vault, 'open'>): EndedChild => ({
  ...child,
  args: args === null ? null : open.value(args, 'args'),
  left: left === null ? null : child.how === 'failed' ? open.error(left) : open.value(left, 'result'),
})
