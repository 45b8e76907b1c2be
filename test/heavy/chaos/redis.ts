// Connects the simulation to Redis. It does not use HTTP, because each test makes many thousands of calls.

import { createHash } from 'node:crypto'
import { type Address, connect, decode, type Reply, RespError } from '../../../infra/stand-ins/resp.ts'
import type { Client } from '../../../src/redis/client.ts'
import { itemOf } from '../../../src/redis/item.ts'
import { decodeRecord, type JobRecord } from '../../../src/redis/record.ts'
import { argumentsOf, type Evaluate } from '../../../src/redis/script.ts'
import * as scripts from '../../../src/redis/scripts.generated.ts'

type Text = string | null | Text[]

function textOf(reply: Reply): Text {
  if (reply instanceof RespError) throw reply
  if (Array.isArray(reply)) return reply.map(textOf)
  if (Buffer.isBuffer(reply)) return reply.toString()
  return reply === null ? null : String(reply)
}

const LOOK = `
local ns = ARGV[1]
local places = { 'ready', 'ready:pull', 'timers', 'leases', 'suspended', 'completed', 'failed', 'terminated' }
local jobs, queues, entries = {}, {}, 0
local texts, last = {}, tonumber(redis.call('GET', ns .. 'jobs:last_id') or 0)
for number = 0, math.floor(last / 100) do
  local piece = redis.call('GET', ns .. 'jobs:' .. string.format('%.0f', number))
  if piece then
    local mask, first, state, common, args, own = (piece .. '\\n{}'):match('^(.-)\\n(.-)\\n(.-)\\n(.-)\\n(.-)\\n([^\\n]*)')
    local list, n = cjson.decode(args), 0
    for at = 1, #mask do
      if mask:sub(at, at) == '1' then
        local id = string.format('%.0f', number * 100 + at - 1)
        texts[id] = '{"n":"' .. first .. '",' .. state:gsub('@', id) .. common .. ',"a":' .. cjson.encode(list[at]) .. '}'
        for field, each in pairs(cjson.decode(own)) do texts[id] = texts[id]:sub(1, -2) .. ',"' .. field .. '":' .. cjson.encode(each[at]) .. '}' end
        n = n + 1
      end
    end
    entries = entries + n - 1
  end
end
for n = 1, last do
  local id = string.format('%.0f', n)
  local key = ns .. 'job:' .. id
  local text = redis.call('GET', key)
  if text and texts[id] then error('job ' .. id .. ' is there twice') end
  text = text or texts[id]
  if text then
    local doc, job = cjson.decode(text), { text = text, lists = {}, side = {} }
    for field, value in pairs(doc) do
      local dir, port = field:match('^([io]):(.+)$')
      if dir then
        local pushed, taken = value:match('^(%d+),(%d+)')
        local items = pushed ~= taken and redis.call('LRANGE', key .. (dir == 'i' and ':in:' or ':out:') .. port, 0, -1)
        if doc['v' .. field] then items = cjson.decode(doc['v' .. field]) end
        if items and #items > 0 then job.lists[field] = items end
      elseif value == '^' then
        job.side[field] = redis.call('GET', key .. ':f:' .. field) or ''
      end
    end
    if doc.wf then job.waiting = table.concat(redis.call('SMEMBERS', key .. ':waiting'), ' ') end
    jobs[id] = job
  end
end
for i = 3, #ARGV do
  local key = ns .. 'queue:' .. ARGV[i]
  if i - 2 > tonumber(ARGV[2]) then
    entries = entries + redis.call('ZCARD', ns .. 'limit-waiting:' .. ARGV[i])
  else
    for _, place in ipairs(places) do entries = entries + redis.call('ZCARD', key .. ':' .. place) end
    queues[ARGV[i]] = redis.call('GET', key) or '{"l":{}}'
    for _ in pairs(cjson.decode(queues[ARGV[i]]).ls or {}) do entries = entries + 1 end
  end
end
return cjson.encode({ jobs = jobs, queues = queues, entries = entries, constraints = redis.call('GET', ns .. 'constraints') or nil })
`
const lookSha = createHash('sha1').update(LOOK).digest('hex')

export async function directClient(address: Address) {
  const connection = await connect(address)
  const command = async (...words: string[]) => textOf(await connection.call(...words))
  for (const { text } of Object.values(scripts)) await command('SCRIPT', 'LOAD', text)
  await command('SCRIPT', 'LOAD', LOOK)
  let toLookAt: string[] | undefined
  let looked: string | undefined

  const evaluate: Evaluate = async (script, keys, args, rest) => {
    const call = ['EVALSHA', script.sha, String(keys.length), ...keys, ...argumentsOf(script, args, rest)]
    const look = toLookAt ? [['EVALSHA', lookSha, '0', ...toLookAt]] : []
    const [answer, seen] = await connection.batch([call, ...look])
    if (seen) looked = String(textOf(decode(seen)))
    return textOf(decode(answer!))
  }

  const unused = () => {
    throw new Error('the simulator calls scripts only')
  }
  const ask: Client['ask'] = (question) => question({ get: (key: string) => command('GET', key) } as never) as never
  const client: Client = { evaluate, listen: unused, ask }

  async function lookAfter<A>({ ns, queues, limits }: Where, call: () => Promise<A>): Promise<[Settled<A>, string]> {
    toLookAt = [ns, String(queues.length), ...queues, ...limits]
    const [settled] = await Promise.allSettled([call()])
    toLookAt = undefined
    return [settled!, looked!]
  }

  return { client, command, lookAfter, close: () => connection.close() }
}

type Where = { ns: string; queues: readonly string[]; limits: readonly string[] }
type Settled<A> = PromiseSettledResult<A>
export type Direct = Awaited<ReturnType<typeof directClient>>

export type QueueDocument = {
  l: Record<string, number>
  ml?: number
  paused?: boolean
  nt?: number
  wm?: string
  hd?: string
}
export type SeenJob = {
  id: number
  doc: JobRecord
  /** Values by port: `i:port` is an input, `o:port` an output. */
  lists: Record<string, string[]>
  waiting: number[]
}
export type View = {
  jobs: Map<number, SeenJob>
  queues: Map<string, QueueDocument>
  entries: number
  constraints: Constraints
}

export type Constraints = { version: string; list: Record<string, string> }

const noConstraints: Constraints = { version: '', list: {} }
export const nothing: View = { jobs: new Map(), queues: new Map(), entries: 0, constraints: noConstraints }

export const idOf = (item: string): string => nameOf(itemOf(item).data)

export const nameOf = (data: string): string => data.slice(1, -1).replace(/\.+$/, '')

type RawJob = {
  text: string
  lists: Record<string, string[]>
  side: Record<string, string>
  waiting?: string
}

const seenJob = (id: string, { text, lists, side, waiting }: RawJob): SeenJob => ({
  id: Number(id),
  doc: decodeRecord(text, Object.entries(side).flat()),
  lists: Object.fromEntries(Object.entries(lists).map(([port, items]) => [port, items.map(idOf)])),
  waiting: waiting ? waiting.split(' ').map(Number) : [],
})

export function viewOf(looked: string): View {
  const { jobs, queues, entries, constraints } = JSON.parse(looked) as {
    jobs: Record<string, RawJob>
    queues: Record<string, string>
    entries: number
    constraints?: string
  }
  return {
    jobs: new Map(Object.entries(jobs).map(([id, raw]) => [Number(id), seenJob(id, raw)])),
    queues: new Map(Object.entries(queues).map(([name, text]) => [name, JSON.parse(text) as QueueDocument])),
    entries,
    constraints: constraints ? JSON.parse(constraints) : noConstraints,
  }
}
