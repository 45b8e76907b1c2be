import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import type { Address } from '../../infra/stand-ins/resp.ts'

export type Touched = Map<string, { reads: Set<string>; writes: Set<string> }>

const writing = new Set(
  'set mset del hset hdel lpush rpush ltrim sadd srem zadd zrem zremrangebyscore xadd pexpire publish'.split(' '),
)
const manyKeys = new Set(['mget', 'del', 'exists'])

function keysIn([name = '', ...rest]: string[]): string[] {
  if (manyKeys.has(name)) return rest
  return name === 'mset' ? rest.filter((_, i) => i % 2 === 0) : rest.slice(0, 1)
}

const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word]) => word!.replaceAll('\\"', '"'))

/** Records the keys that each script reads and writes. Keys must begin with a namespace and a colon. */
export async function monitor({ host, port }: Address) {
  const touched: Touched = new Map()
  const socket = connect(port, host)
  let script: string | undefined

  function note(line: string): void {
    const [name = '', ...rest] = wordsOf(line)
    const command = name.toLowerCase()
    if (!/^\+\S+ \[\d+ lua\]/.test(line)) {
      script = command === 'evalsha' ? rest[0] : undefined
      return
    }
    if (script === undefined) return
    const found = touched.get(script) ?? { reads: new Set(), writes: new Set() }
    touched.set(script, found)
    for (const key of keysIn([command, ...rest])) {
      const word = /^[^:]+:([a-z]+)/.exec(key)?.[1]
      if (word) found[writing.has(command) ? 'writes' : 'reads'].add(word)
    }
  }

  const closed = new Promise((resolve) => socket.once('close', resolve))
  createInterface({ input: socket }).on('line', note)
  socket.write('MONITOR\r\n')
  return {
    touched,
    async close() {
      socket.destroy()
      await closed
    },
  }
}
