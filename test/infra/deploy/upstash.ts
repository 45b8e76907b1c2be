import type { Answer, Call } from './cloudflare.ts'

export type Listed = {
  database_id: string
  database_name: string
  endpoint: string
  region: string
  primary_region: string
  read_regions: string[]
  eviction: boolean
  type: string
  budget: number
}

const json = (status: number, body: unknown): Answer => ({ status, json: body })

export function answerUpstash({ method, path, headers }: Call, databases: Listed[]): Answer | undefined {
  if (method !== 'GET') return undefined
  if (headers.authorization !== `Basic ${btoa('me@example.test:upstash-key')}`) return json(401, 'Unauthorized')
  // The list has fewer fields than a single database.
  if (path === '/v2/redis/databases')
    return json(
      200,
      databases.map(({ eviction: _, type: __, ...listed }) => listed),
    )
  const [, id] = /^\/v2\/redis\/database\/([^/]+)$/.exec(path) ?? []
  const found = databases.find(({ database_id }) => database_id === id)
  return id ? (found ? json(200, found) : json(404, 'Not Found')) : undefined
}

type Schedule = { destination: string; cron: string }
type Message = { destination: string; looks: number }

export type QstashState = {
  delivery: string
  late: number
}

export function createQstashApi(state: QstashState, takes: (destination: string) => boolean) {
  const schedules = new Map<string, Schedule>()
  const messages = new Map<string, Message>()

  function schedule({ headers, path }: Call): Answer {
    const id = headers['upstash-schedule-id']!
    const destination = decodeURIComponent(path.slice('/v2/schedules/'.length))
    schedules.set(id, { destination, cron: headers['upstash-cron']! })
    return json(201, { scheduleId: id })
  }

  function logs({ query }: Call): Answer {
    const messageId = query.get('messageId') ?? ''
    const message = messages.get(messageId)
    const looks = message ? message.looks++ : 0
    const end = message && !takes(message.destination) ? 'FAILED' : state.delivery
    const states = looks >= state.late ? [end, 'ACTIVE', 'CREATED'] : looks > 0 ? ['CREATED'] : []
    const events = message ? states.map((one, i) => ({ messageId, state: one, time: 10 - i })) : []
    return json(200, { logs: events, events, cursor: '' })
  }

  return {
    schedules,
    answer(call: Call): Answer | undefined {
      const { method, path, headers } = call
      if (headers.authorization !== 'Bearer qstash-token') return json(401, { error: 'unauthorized' })
      const [, id = ''] = /^\/v2\/schedules\/([^/]+)$/.exec(path) ?? []
      if (method === 'POST' && path.startsWith('/v2/schedules/')) return schedule(call)
      if (id && method === 'DELETE')
        return schedules.delete(id) ? json(200, { scheduleId: id }) : json(404, { error: `schedule ${id} not found` })
      if (method === 'GET' && path === '/v2/schedules')
        return json(
          200,
          [...schedules].map(([scheduleId, one]) => ({ scheduleId, ...one })),
        )
      if (method === 'POST' && path.startsWith('/v2/publish/')) {
        const messageId = `msg_${messages.size + 1}`
        messages.set(messageId, { destination: decodeURIComponent(path.slice('/v2/publish/'.length)), looks: 0 })
        return json(201, { messageId })
      }
      if (method === 'GET' && (path === '/v2/logs' || path === '/v2/events')) return logs(call)
      return undefined
    },
  }
}
