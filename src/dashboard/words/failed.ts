import { count } from './text.ts'

export type SeenKinds = { at: number; looked: number; muted: number; isAll: boolean }

type Sign<Kind> = { n: number; kind: Kind; title: string; more?: boolean }
type FailedSign = Sign<'bad' | ''>

/** `more`: the number is a minimum. */
export const signOf =
  <Kind extends string>(kind: Kind) =>
  (n: number, title: string, more?: boolean): Sign<Kind> | undefined =>
    n > 0 ? { n, kind, title, more } : undefined

const KNOWN = 300_000

type Known = { failed: number; hasMutes: boolean; now: number }

const [red, grey] = [signOf('bad'), signOf('')]

/** The errors of jobs that failed after the last read are unknown, so these jobs are counted separately. */
function ofAll(failed: number, { looked, muted }: SeenKinds): FailedSign | undefined {
  const [counted, since] = [Math.min(looked - muted, failed), Math.max(0, failed - looked)]
  const later = `${count(since)} failed since the last count; some may have muted errors (see Overview)`
  const title = `${count(counted)} failed, not counting ${count(muted)} with muted errors`
  return red(counted, since > 0 ? `${title}; ${later}` : title) ?? grey(since, later)
}

/** Red only if some errors are known to be unmuted. `seen` is absent until the kinds of errors are read. */
export function failedSign({ failed, hasMutes, now }: Known, seen?: SeenKinds): FailedSign | undefined {
  if (!hasMutes) return red(failed, `${count(failed)} failed`)
  if (!seen || seen.looked === 0 || now - seen.at > KNOWN)
    return grey(failed, `${count(failed)} failed; some may have muted errors (see Overview)`)
  if (seen.isAll) return ofAll(failed, seen)
  const about = Math.round((failed * (seen.looked - seen.muted)) / seen.looked)
  const by = `estimated from the newest ${count(seen.looked)}, not counting muted errors`
  return red(about, `About ${count(about)} failed, ${by}`)
}
