import { SidejobError } from '../../core/errors.ts'
import { callable } from '../../core/url.ts'
import type { Callback } from '../engine.ts'

export const addressOf = ({ url, kafka }: Callback): string =>
  kafka ? `${kafka.url.replace(/\/+$/, '')}/topics/${encodeURIComponent(kafka.topic)}` : url!

/** `host` contains the id of the API key: failing callbacks of one key must not delay callbacks of other keys. */
export function keptCallback(
  callback: Callback | undefined,
  allowHosts: readonly string[],
  by?: string,
): { spec: string; host: string } | undefined {
  if (!callback) return undefined
  try {
    const { host } = callable(addressOf(callback), allowHosts, 'callbacks')
    return { spec: JSON.stringify(callback), host: by ? `${host}/${by.replace(/^key:/, '')}` : host }
  } catch (error) {
    if (!(error instanceof SidejobError)) throw error
    const path = callback.kafka ? ['callback', 'kafka', 'url'] : ['callback', 'url']
    throw new SidejobError(error.code, `${path.join('.')}: ${error.message}`, { path })
  }
}
