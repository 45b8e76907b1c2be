import type { Callback } from '../engine.ts'
import { checkedUrl } from './checks.ts'

export const addressOf = ({ url, kafka }: Callback): string =>
  kafka ? `${kafka.url.replace(/\/+$/, '')}/topics/${encodeURIComponent(kafka.topic)}` : url!

/** `host` contains the id of the API key: failing callbacks of one key must not delay callbacks of other keys. */
export function keptCallback(
  callback: Callback | undefined,
  allowHosts: readonly string[],
  by?: string,
): { spec: string; host: string } | undefined {
  if (!callback) return undefined
  const path = callback.kafka ? ['callback', 'kafka', 'url'] : ['callback', 'url']
  const { host } = checkedUrl(addressOf(callback), allowHosts, 'callbacks', path)
  return { spec: JSON.stringify(callback), host: by ? `${host}/${by.replace(/^key:/, '')}` : host }
}
