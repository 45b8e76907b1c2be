// Actions on many jobs. An action changes exactly the jobs that were counted, by their ids.

import { limits } from '../core/limits.ts'
import { forEach } from '../core/slots.ts'
import type { BulkInput } from '../engine/engine.ts'
import type { ActAsked, Confirm } from './page.ts'
import { idsIn, idsText } from './words/ids.ts'
import { count, many } from './words/text.ts'

/** Maximum milliseconds per request. If jobs remain, the dialog sends another request. 1,000 jobs take about 10 ms. */
const COUNTS_FOR = 1_000
const PAGES = 20
const MOST = limits.bulkIds.most
const AT_ONCE = 5

type Counting = {
  ids: number[]
  /** null means that the count is complete. */
  cursor: string | null
  newest?: number
}

const cursorIn = (form: FormData): string | null | undefined => {
  const given = form.get('cursor')
  if (given === null) return undefined
  return String(given) || null
}

export const countedIds = ({ form }: ActAsked): number[] => idsIn(String(form.get('counted') ?? ''))

async function counted(asked: ActAsked, of: BulkInput): Promise<Counting> {
  const until = Date.now() + COUNTS_FOR
  const ids = countedIds(asked)
  let cursor = cursorIn(asked.form)
  let newest: number | undefined
  for (let page = 0; page < PAGES && cursor !== null && ids.length < MOST && Date.now() < until; page++) {
    const found = await asked.engine.bulk.preview(of, { cursor, pages: 1 })
    ids.push(...found.ids)
    cursor = found.cursor
    newest = found.newest
  }
  return { ids, cursor: cursor ?? null, newest }
}

type Asking = {
  of: BulkInput
  verb: string
  what?: string
  text: string[]
  isTyped?: boolean
  chosen?: number
}

const searched = ({ cursor, newest }: Counting): string =>
  cursor && newest !== undefined && /^\d+$/.test(cursor)
    ? `Searched ${count(newest - Number(cursor) + 1)} of ${count(newest)} jobs.`
    : 'Counting continues.'

export async function askCounted(asked: ActAsked, asking: Asking): Promise<Confirm> {
  const { of, verb, what = '', text, isTyped = false, chosen } = asking
  const counting: Counting =
    asked.form.has('sure') && asked.form.has('counted')
      ? { ids: countedIds(asked), cursor: null }
      : await counted(asked, of)
  const ids = counting.ids.slice(0, MOST)
  const n = ids.length
  const fields = { counted: idsText(ids), cursor: counting.cursor ?? '' }
  const jobs = `${many(n, 'job')}${what}`
  if (counting.cursor !== null && counting.ids.length < MOST)
    return {
      title: `${verb} ${jobs} so far`,
      text: [searched(counting)],
      verb: 'Keep counting',
      fields,
      isCounting: true,
    }
  if (n === 0)
    return { title: `${verb}: no job to change`, text: ['None of these jobs can be changed this way now.'], verb: '' }
  const isCut = counting.cursor !== null || counting.ids.length > MOST
  return {
    title: isCut ? `${verb} the newest ${jobs}?` : `${verb} ${jobs}?`,
    text: [
      ...text,
      ...(isCut ? [`More jobs match. One action changes at most ${count(MOST)}; repeat it for the rest.`] : []),
      ...(chosen !== undefined && chosen > n
        ? [`${many(chosen - n, 'selected job')} cannot be changed this way.`]
        : []),
    ],
    verb: `${verb} ${count(n)}`,
    fields,
    isSafe: ['retry', 'requeue'].includes(of.action),
    ...(isTyped ? { type: String(n) } : {}),
  }
}

/**
 * Calls `act` for all ids, even if some of them fail. `act` returns the refusal, if it skips the id.
 *
 * @return the number of ids without a refusal, and a text about the skipped ones
 */
export async function actOnEach(ids: readonly number[], act: (id: number) => Promise<string | undefined>) {
  const refused: { id: number; message: string }[] = []
  await forEach(ids, AT_ONCE, async (id) => {
    const message = await act(id).catch((error: Error) => error.message)
    if (message !== undefined) refused.push({ id, message })
  })
  const [first] = refused
  const rest = first ? `; ${count(refused.length)} skipped, for example #${first.id}: ${first.message}` : ''
  return { done: ids.length - refused.length, rest }
}

export async function startCounted(asked: ActAsked, action: BulkInput['action'], reason?: string): Promise<number> {
  const { id } = await asked.call<{ id: number }>('POST', '/v1/bulk', { ids: countedIds(asked), action }, reason)
  return id
}
