import { pageOf } from '../../core/faults.ts'
import { tryRead } from '../../core/readable.ts'
import { type Changes, queryWith } from './query.ts'

const at = encodeURIComponent

export const isFlow = (of: { queue?: string; class?: string | undefined }): boolean =>
  of.queue === 'core' && of.class === 'flow'
export const jobPath = (id: number | string): string => `/jobs/${id}`
export const queuePath = (queue: string): string => `/queues/${at(queue)}`
export const groupPath = (id: string): string => `/groups/${at(id)}`
export const channelPath = (channel: string): string => `/channels?at=${at(channel)}`
export const limitPath = (key: string): string => pageOf({ kind: 'limit', who: key })
export const changeLimitPath = (key: string): string => `/limits?change=${at(key)}`
export const constraintPath = (name: string): string => `/limits?constraint=${at(name)}`
export const schedulePath = (alias: string): string => `/schedules?change=${at(alias)}`
export const pullersPath = (queue: string): string => `/workers?q=${at(`${queue}/`)}`
export const workerPath = (queue: string, name: string): string => `/workers/${at(queue)}/${at(name)}`

/** @example apiPath('limits', 'ai/gpt') // '/v1/limits/ai%2Fgpt' */
export const apiPath = (...names: string[]): string => ['/v1', ...names.map(at)].join('/')

/** @example jobsPath({ status: 'failed', queue: 'media' }) // '/jobs?status=failed&queue=media' */
export const jobsPath = (filter: Changes): string => `/jobs${queryWith('', filter)}`

export const callbacksPath = (filter: Changes): string => `/callbacks${queryWith('', filter)}`

/** @example classJobsPath(worker, 'failed') // '/jobs?status=failed&queue=media&class=resize' */
export const classJobsPath = (
  { queue, class: name }: { queue: string; class: string | null },
  status?: string,
): string => jobsPath({ status, queue, class: name ?? undefined })

export const newJobPath = ({ queue, class: name }: { queue: string; class: string }): string =>
  `/jobs/new?queue=${at(queue)}&class=${at(name)}`

export const errorPath = (error: string): string => jobsPath({ status: 'failed', error })

export const jobLink = (id: number | string): { text: string; to: string } => ({ text: `#${id}`, to: jobPath(id) })

export const decoded = (part: string): string => tryRead(() => decodeURIComponent(part)) ?? part
