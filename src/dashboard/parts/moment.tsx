// Relative times, which a script updates.

import { useLook } from '../look.ts'
import { about, ago, moment, span } from '../words/time.ts'

export function Ago({ at }: { at: number }) {
  const { now, zone } = useLook()
  return (
    <time datetime={new Date(at).toISOString()} title={moment(at, zone)} data-ago={at}>
      {ago(at, now, zone)}
    </time>
  )
}

export function Since({ at, short }: { at: number; short?: boolean }) {
  const { now, zone } = useLook()
  const format = short ? about : span
  return (
    <time datetime={new Date(at).toISOString()} title={moment(at, zone)} data-since={at} data-short={short && ''}>
      {format(now - at)}
    </time>
  )
}
