import { groupIdOf } from './constraint.ts'

export const faultKinds = [
  'job',
  'queue',
  'limit',
  'channel',
  'alias',
  'schedule',
  'flow',
  'piece',
  'data',
  'unreadable',
] as const
export type FaultKind = (typeof faultKinds)[number]

type Places = { api: (who: string) => string; page: (who: string) => string }

const inPath = encodeURIComponent

const limitPage = (key: string): string => {
  const group = groupIdOf(key)
  return group === undefined ? `/limits?open=${inPath(key)}` : `/groups/${inPath(group)}`
}

const places: Record<FaultKind, Places> = {
  job: { api: (id) => `/v1/jobs/${id}`, page: (id) => `/jobs/${id}` },
  queue: { api: (name) => `/v1/queues/${inPath(name)}`, page: (name) => `/queues/${inPath(name)}` },
  limit: { api: (key) => `/v1/limits/${inPath(key)}`, page: limitPage },
  channel: { api: () => '/v1/channels', page: (name) => `/channels?at=${inPath(name)}` },
  alias: { api: (alias) => `/v1/jobs?alias=${inPath(alias)}`, page: (alias) => `/jobs?alias=${inPath(alias)}` },
  schedule: { api: (id) => `/v1/schedules/${id}`, page: (id) => `/jobs/${id}` },
  piece: { api: (number) => `/v1/jobs/${number}00`, page: (number) => `/jobs/${number}00` },
  data: { api: () => '/v1/doctor', page: () => '/doctor' },
  unreadable: { api: () => '/v1/doctor', page: () => '/doctor' },
  flow: { api: (id) => `/v1/flows/${id}`, page: (id) => `/flows/${id}` },
}

type Found = { kind: FaultKind; who: string }

export const linkOf = ({ kind, who }: Found): string => places[kind].api(who)

export const pageOf = ({ kind, who }: Found): string => places[kind].page(who)
