import { connect as connectTcp, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

export type Address = {
  host: string
  port: number
  username?: string
  password?: string
  db?: number
  tls?: boolean
}

export type Command = (string | Buffer)[]

/** An error of Redis is a value, not an exception. */
export type Reply = Buffer | number | null | RespError | Reply[]

export class RespError extends Error {
  override name = 'RespError'
}

/** The server may or may not have run the commands. */
export class ConnectionLost extends Error {
  override name = 'ConnectionLost'
}

export type Connection = Awaited<ReturnType<typeof connect>>

export async function connect(address: Address, { timeout = 5_000 }: { timeout?: number } = {}) {
  const socket = await open(address, timeout)
  const waiting: Batch[] = []
  let first = 0
  let lost: ConnectionLost | undefined
  let onPush: ((reply: Buffer) => void) | undefined

  socket.on('data', createFramer(settle))
  socket.on('error', () => {})
  const closed = new Promise<void>((resolve) =>
    socket.on('close', () => {
      lost = new ConnectionLost(`the Redis at ${address.host}:${address.port} closed the connection`)
      for (const batch of waiting.splice(0).slice(first)) batch.reject(lost)
      resolve()
    }),
  )

  function settle(reply: Buffer) {
    const batch = waiting[first]
    if (!batch) return onPush?.(reply)
    batch.replies.push(reply)
    if (batch.replies.length < batch.size) return
    batch.resolve(batch.replies)
    first++
    // Shifting a long array copies it, so answered batches are removed a thousand at a time.
    if (first < waiting.length && first < 1_000) return
    waiting.splice(0, first)
    first = 0
  }

  function batch(commands: Command[]): Promise<Buffer[]> {
    if (lost) return Promise.reject(lost)
    return new Promise((resolve, reject) => {
      waiting.push({ size: commands.length, replies: [], resolve, reject })
      write(socket, commands)
    })
  }

  async function call(...command: (string | number | Buffer)[]): Promise<Reply> {
    const [reply] = await batch([command.map((part) => (typeof part === 'number' ? String(part) : part))])
    return decode(reply!)
  }

  async function must(...command: string[]) {
    const reply = await call(...command)
    if (!(reply instanceof RespError)) return
    socket.destroy()
    throw new Error(`Redis at ${address.host}:${address.port} refuses ${command[0]}: ${reply.message}`)
  }

  if (address.password) await must('AUTH', ...(address.username ? [address.username] : []), address.password)
  if (address.db) await must('SELECT', String(address.db))

  return {
    batch,
    call,
    closed,
    stream(command: Command, listener: (reply: Buffer) => void) {
      onPush = listener
      write(socket, [command])
    },
    close() {
      socket.destroy()
      return closed
    },
    unref() {
      socket.unref()
    },
  }
}

export function decode(raw: Buffer): Reply {
  let at = 0

  function next(): Reply {
    const type = raw[at]
    const end = raw.indexOf(CR, at)
    const line = raw.subarray(at + 1, end)
    at = end + 2
    if (type === PLUS) return line
    if (type === MINUS) return new RespError(line.toString())
    if (type === COLON) return Number(line.toString())
    const size = Number(line.toString())
    if (size < 0) return null
    if (type === STAR) return Array.from({ length: size }, next)
    at += size + 2
    return raw.subarray(end + 2, end + 2 + size)
  }

  return next()
}

export function elements(raw: Buffer): Buffer[] {
  const found: Buffer[] = []
  createFramer((reply) => found.push(reply))(raw.subarray(raw.indexOf(CR) + 2))
  return found
}

export function lineOf(raw: Buffer): string {
  return raw.toString('utf8', 1, raw.length - 2)
}

export function text(reply: Reply): string {
  if (reply instanceof RespError) throw reply
  if (Buffer.isBuffer(reply)) return reply.toString()
  throw new TypeError(`expected a string from Redis, got ${reply === null ? 'nil' : JSON.stringify(reply)}`)
}

type Batch = {
  size: number
  replies: Buffer[]
  resolve: (replies: Buffer[]) => void
  reject: (error: Error) => void
}

export const PLUS = 0x2b
export const MINUS = 0x2d
export const COLON = 0x3a
export const STAR = 0x2a
const DOLLAR = 0x24
const CR = 0x0d

function open({ host, port, tls }: Address, timeout: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = tls ? connectTls({ host, port, servername: host }) : connectTcp({ host, port })
    const fail = (why: string) => {
      socket.destroy()
      reject(new Error(`no Redis answers at ${host}:${port} (${why})`))
    }
    const timer = setTimeout(() => fail(`no answer within ${timeout} ms`), timeout)
    socket.setNoDelay(true)
    socket.once('close', () => clearTimeout(timer))
    socket.once('error', (error: NodeJS.ErrnoException) => fail(error.code ?? error.message))
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })
}

function write(socket: Socket, commands: Command[]) {
  let pending = ''
  socket.cork()
  for (const command of commands) {
    pending += `*${command.length}\r\n`
    for (const part of command) {
      if (typeof part === 'string') {
        pending += `$${Buffer.byteLength(part)}\r\n${part}\r\n`
      } else {
        socket.write(`${pending}$${part.length}\r\n`)
        socket.write(part)
        pending = '\r\n'
      }
    }
  }
  socket.write(pending)
  socket.uncork()
}

/** `open` counts the missing elements of all levels, so that one pass reads nested replies. */
function createFramer(emit: (reply: Buffer) => void) {
  let bytes: Buffer = Buffer.alloc(0)
  let filled = 0
  let start = 0
  let at = 0
  let open = 1

  return (chunk: Buffer) => {
    append(chunk)
    while (at < filled) {
      const next = element()
      if (next < 0) return
      at = next
      if (open > 0) continue
      emit(bytes.subarray(start, at))
      start = at
      open = 1
    }
  }

  /** Emitted replies are views of `bytes`, so their bytes are never overwritten. */
  function append(chunk: Buffer) {
    if (start === filled) {
      bytes = chunk
      filled = chunk.length
      at = start = 0
      return
    }
    if (filled + chunk.length > bytes.length) {
      const grown = Buffer.allocUnsafe(2 * (filled - start + chunk.length))
      bytes.copy(grown, 0, start, filled)
      bytes = grown
      filled -= start
      at -= start
      start = 0
    }
    chunk.copy(bytes, filled)
    filled += chunk.length
  }

  /** Returns -1 if the element is incomplete. */
  function element(): number {
    const type = bytes[at]
    if (type !== DOLLAR && type !== STAR) {
      const end = bytes.indexOf(CR, at)
      if (end < 0 || end + 2 > filled) return -1
      open--
      return end + 2
    }
    let size = 0
    let end = at + 1
    for (; end < filled && bytes[end] !== CR; end++) size = bytes[end] === MINUS ? -1 : size * 10 + bytes[end]! - 0x30
    end += 2
    if (end > filled) return -1
    if (type === STAR) {
      open += Math.max(size, 0) - 1
      return end
    }
    if (size >= 0) end += size + 2
    if (end > filled) return -1
    open--
    return end
  }
}
