// Waits until Redis removes a key. It uses notifications of Redis, because polling would keep Redis busy and be slow.

import { type Address, connect, decode } from '../../../infra/stand-ins/resp.ts'

export async function hearRemovals(redis: Address) {
  const [asking, hearing] = [await connect(redis), await connect(redis)]
  await asking.call('CONFIG', 'SET', 'notify-keyspace-events', 'Eg')
  const removed = new Set<string>()
  const waiting = new Map<string, () => void>()
  hearing.stream(['PSUBSCRIBE', '__keyevent@*__:del'], (push) => {
    const [kind, , , key] = decode(push) as Buffer[]
    if (String(kind) !== 'pmessage') return
    removed.add(String(key))
    waiting.get(String(key))?.()
  })
  return {
    async of(key: string): Promise<void> {
      if (!removed.has(key)) await new Promise<void>((resolve) => waiting.set(key, resolve))
    },
    /** Switches notifications off, because they slow Redis down. */
    async close() {
      await asking.call('CONFIG', 'SET', 'notify-keyspace-events', '')
      await Promise.all([asking.close(), hearing.close()])
    },
  }
}
