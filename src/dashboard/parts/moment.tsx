import { useLook } from '../look.ts'
import { about, ago, moment, span } from '../words/time.ts'

/** `word` precedes the time, as in `used 3 min ago`. */
export function Ago({ at, word }: { at: number; word?: string }) {
  const { now, zone } = useLook()
  return (
    <>
      {word && `${word} `}
      <time datetime={new Date(at).toISOString()} title={moment(at, zone)} data-ago={at}>
        {ago(at, now, zone)}
      </time>
    </>
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
