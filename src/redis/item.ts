import type { Encoded } from '../core/codec/value.ts'

type PortItem = { data: Encoded; context?: Encoded; channel?: string; log?: false; at?: number }

const oneLine = (text: string): string => text.replace(/[\r\n]/g, ' ')

export const itemText = ({ data, context, channel, log }: PortItem): string =>
  context === undefined && channel === undefined && log !== false
    ? `=${data}`
    : `@${oneLine(context ?? '')}\n${channel ?? ''}\n${log === false ? 'l' : ''}\n${data}`

const arrivalOf = (flags = ''): { at?: number } => {
  const seconds = /t(\d+)/.exec(flags)?.[1]
  return seconds ? { at: Number(seconds) * 1_000 } : {}
}

export function itemOf(text: string): PortItem {
  if (text.startsWith('=')) return { data: text.slice(1) }
  const [context, channel, flags, ...data] = text.slice(1).split('\n')
  return {
    data: data.join('\n'),
    ...(context ? { context } : {}),
    ...(channel ? { channel } : {}),
    ...(flags?.includes('l') ? { log: false as const } : {}),
    ...arrivalOf(flags),
  }
}

export type LastMessage = { at: number; size: number; counted: string; message?: Encoded; context?: Encoded }

export function lastMessageOf(text: string, show: (item: string) => string): LastMessage {
  const end = text.indexOf('\n')
  const [at, size, counted] = text.slice(0, end).split(',') as [string, string, string]
  const item = text.slice(end + 1)
  const { data, context } = itemOf(show(item))
  return {
    at: Number(at),
    size: Number(size),
    counted,
    ...(item === '' ? {} : { message: data }),
    context,
  }
}

export function shownItem(text: string): { data: Encoded; context?: Encoded } {
  const { data, context, channel } = itemOf(text)
  if (!channel) return context === undefined ? { data } : { data, context }
  const base = context && !context.startsWith('~') ? (JSON.parse(context) as object) : {}
  return { data, context: JSON.stringify({ ...base, channel }) }
}
