import { parseDuration } from '../../../core/time.ts'
import type { ErrorKind, ErrorMute, ErrorPage, MutedKind } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import type { Act, ActAsked } from '../../page.ts'
import { Act as Button, More } from '../../parts/act.tsx'
import { given, maybe } from '../../words/form.ts'
import { apiPath } from '../../words/paths.ts'
import { ago, cut, title } from '../../words/text.ts'
import { noteMute } from './seen-kinds.ts'

export type Mute = ErrorPage['muted'][number]

export const lengths = { '1h': 'for an hour', '1d': 'for a day', '7d': 'for a week' }

export function untilOf(form: FormData, now: number): { until?: number | string } {
  const [until, length] = [maybe(form, 'until'), maybe(form, 'for')]
  if (until !== undefined) return { until }
  return length === undefined ? {} : { until: now + (parseDuration(length) ?? 0) }
}

export const lengthIn = (form: FormData): string | undefined =>
  Object.entries(lengths).find(([name]) => name === form.get('for'))?.[1]

const howLong = (form: FormData): string =>
  maybe(form, 'until') === undefined ? (lengthIn(form) ?? 'until unmuted') : 'again, with its previous end'

const momentOf = (at: number | string): number => new Date(at).getTime()

async function change(asked: ActAsked, error: string, wanted: object): Promise<ErrorMute | null> {
  const { muted, was } = await asked.call<MutedKind>('PATCH', apiPath('errors', error), wanted)
  const mute = muted && { ...muted, at: momentOf(muted.at), until: muted.until && momentOf(muted.until) }
  await noteMute(asked.cache, error, mute)
  return was
}

const undoOf = (error: string, was: ErrorMute | null): Record<string, string> => ({
  act: was ? 'muteKind' : 'unmuteKind',
  error,
  ...(was?.until ? { until: new Date(was.until).toISOString() } : {}),
})

export const muteActs: Record<string, Act> = {
  muteKind: {
    scope: 'admin',
    async does(asked) {
      const { form, look } = asked
      const error = given(form, 'error')
      const was = await change(asked, error, { muted: true, ...untilOf(form, look.now) })
      return { say: `Error muted ${howLong(form)}`, undo: undoOf(error, was) }
    },
  },
  unmuteKind: {
    scope: 'admin',
    async does(asked) {
      const error = given(asked.form, 'error')
      const was = await change(asked, error, { muted: false })
      return { say: 'Error unmuted', undo: was ? undoOf(error, was) : undefined }
    },
  },
}

export function MuteButtons({
  kind: { error, muted },
  name,
}: {
  kind: Pick<ErrorKind, 'error' | 'muted'>
  name: string
}) {
  if (muted)
    return (
      <Button act="unmuteKind" at="/jobs" scope="admin" fields={{ error }} small label={`Unmute ${name}`}>
        Unmute
      </Button>
    )
  return (
    <span class="mutes">
      <Button act="muteKind" at="/jobs" scope="admin" fields={{ error }} small kind="quiet" label={`Mute ${name}`}>
        Mute
      </Button>
      <More label={`Mute ${name} for a while`} small>
        {Object.entries(lengths).map(([length, text]) => (
          <Button act="muteKind" at="/jobs" scope="admin" fields={{ error, for: length }} kind="quiet">
            {title(text)}
          </Button>
        ))}
      </More>
    </span>
  )
}

export function MutedTag({ by, at, until }: ErrorMute) {
  const { now, zone } = useLook()
  const end = until === null ? '' : `, ends ${ago(until, now, zone)}`
  return <span class="tag" title={`${ago(at, now, zone)}${end}`}>{`muted by ${cut(by, 24)}${end}`}</span>
}
