import { decodeValue } from '../../core/codec/value.ts'
import { atPath } from '../../core/constraint.ts'
import { type Labels, readLabels } from '../../core/labels.ts'
import type { Listed } from '../../redis/types.ts'
import { shownJob } from '../run/shown.ts'

const PAGES = 2
export const MAX_SCANNED = 1_000

type Seen = Listed['jobs'][number]
type Page = (before: string | undefined) => Promise<Listed>

type Wanted = { text?: string; args?: Record<string, string>; labels?: Labels }

/** Numbers, true, false and null are compared as JSON text. */
const isAs = (value: unknown, wanted: string): boolean =>
  value !== undefined && (value === null || typeof value !== 'object') && String(value) === wanted

function holds({ id, document }: Seen, { text, args: paths, labels = {} }: Wanted): boolean {
  const own = readLabels(document.labels)
  if (!Object.entries(labels).every(([name, value]) => own[name] === value)) return false
  const { args, error, aliases } = shownJob(id, document, {})
  const parts = [args, error, ...aliases, ...Object.values(own)]
  if (text !== undefined && !parts.some((part) => part?.toLowerCase().includes(text))) return false
  if (paths === undefined) return true
  const opened = args === null ? null : decodeValue(args)
  return Object.entries(paths).every(([path, wanted]) => isAs(atPath(opened, path), wanted))
}

export async function searchPages(
  page: Page,
  { text, args, labels, limit, before }: Wanted & { limit: number; before?: string },
): Promise<Listed & { looked: number }> {
  const wanted = { text: text?.toLowerCase(), args, labels }
  const jobs: Seen[] = []
  let [looked, from] = [0, before]
  let newest: number | undefined
  for (let n = 0; n < PAGES; n++) {
    const { jobs: found, cursor, newest: last } = await page(from)
    newest = last ?? newest
    for (const job of found) {
      looked++
      if (!holds(job, wanted)) continue
      jobs.push(job)
      if (jobs.length === limit) return { jobs, cursor: String(job.id), looked, newest }
    }
    if (cursor === null) return { jobs, cursor, looked }
    from = cursor
  }
  return { jobs, cursor: from!, looked, newest }
}
