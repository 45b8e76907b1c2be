// A value on its way through a port: closed, with its context, original channel and options beside it.

import type { Wire } from '../core/codec/value.ts'

export type Item = { data: Wire; context?: Wire; channel?: string; log?: false }

const oneLine = (text: string): string => text.replace(/[\r\n]/g, ' ')

/** `=value` when there is nothing beside it, else `@context\nchannel\nflags\nvalue`. */
export const itemText = ({ data, context, channel, log }: Item): string =>
  context === undefined && channel === undefined && log !== false
    ? `=${data}`
    : `@${oneLine(context ?? '')}\n${channel ?? ''}\n${log === false ? 'l' : ''}\n${data}`

export function itemOf(text: string): Item {
  if (text.startsWith('=')) return { data: text.slice(1) as Wire }
  const [context, channel, flags, ...data] = text.slice(1).split('\n')
  return {
    data: data.join('\n') as Wire,
    ...(context ? { context: context as Wire } : {}),
    ...(channel ? { channel } : {}),
    ...(flags ? { log: false as const } : {}),
  }
}

/** What a reader sees: the channel is part of the context, as SideJob has it. */
export function shownItem(text: string): { data: Wire; context?: Wire } {
  const { data, context, channel } = itemOf(text)
  if (!channel) return context === undefined ? { data } : { data, context }
  const base = context && !context.startsWith('~') ? (JSON.parse(context) as object) : {}
  return { data, context: JSON.stringify({ ...base, channel }) as Wire }
}
