import type { ErrorMute } from '../../../engine/engine.ts'
import type { Engine } from '../../../engine/index.ts'
import type { Cache } from '../../cache.ts'
import { sum } from '../../words/counts.ts'
import type { SeenKinds } from '../../words/failed.ts'

export const kindsName = ({ queue = '', class: name = '' }: { queue?: string; class?: string } = {}): string =>
  `errors ${queue}\n${name}`

type Errors = Awaited<ReturnType<Engine['errors']['list']>> & { at: number }

export async function seenKinds({ last }: Cache): Promise<SeenKinds | undefined> {
  const found = await last<Errors>(kindsName())
  if (!found) return undefined
  const muted = sum(found.errors, ({ muted, count }) => (muted ? count : 0))
  return { at: found.at, looked: found.looked, muted, isAll: found.cursor === null }
}

export async function noteMute({ last }: Cache, error: string, mute: ErrorMute | null): Promise<void> {
  const seen = await last<Errors>(kindsName())
  if (!seen) return
  const kind = seen.errors.find((one) => one.error === error)
  if (kind) kind.muted = mute ?? undefined
  seen.muted = seen.muted.filter((one) => one.error !== error)
  if (mute) seen.muted.unshift({ error, class: kind?.class ?? null, ...mute })
}
