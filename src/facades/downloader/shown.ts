import * as z from 'zod'
import { decodeValue } from '../../core/codec/value.ts'
import { type Downloads, keyOf } from '../../core/files.ts'
import { DAY } from '../../core/units.ts'
import type { JobView } from '../../engine/engine.ts'
import type { Payload } from '../../engine/remote/callbacks.ts'

type Detail = { status?: number; code?: string } | null
type Kept = { status?: number; image?: string }

/** In milliseconds: the longest time until a callback is delivered, plus a week. */
const LONGEST = 37 * DAY

/** The expiry counts from the end of the download, so that all attempts of a callback send the same address. */
const addressOf = async ({ base, files, keep }: Downloads, id: string, since: number): Promise<string> =>
  base === undefined ? (await files.sign(id, LONGEST + keep, since)).url : `${base}/${keyOf(id)}`

const payload = async (
  downloads: Downloads,
  id: string,
  since: number,
  given: Record<string, unknown>,
  result: Kept | undefined,
  refused?: { message: string; detail: Detail },
) => ({
  success: result !== undefined,
  error: refused?.message ?? '',
  extra: given.extra,
  image_size: result?.image ?? '',
  resource_url: given.resource_url,
  download_url: result ? await addressOf(downloads, id, since) : '',
  job_id: id,
  response_code: result?.status ?? refused?.detail?.status ?? 0,
  delivered: true,
  delivery_error: '',
})

export const downloaderPayload =
  (downloads: Downloads): Payload =>
  async (ended, given) => {
    const id = await downloads.files.idOf(ended.job, given.askedAt as number | undefined)
    if (ended.type === 'success')
      return JSON.stringify(await payload(downloads, id, ended.finishedAt, given, decodeValue(ended.result) as Kept))
    const detail = ended.error === null ? null : (decodeValue(ended.error) as Detail)
    return JSON.stringify(
      await payload(downloads, id, ended.finishedAt, given, undefined, { message: ended.message, detail }),
    )
  }

const downloadStates: Partial<Record<JobView['status'], string>> = {
  running: 'InProgress',
  completed: 'Success',
  failed: 'Failed',
  terminating: 'Failed',
  terminated: 'Failed',
}

export const callbackStates: Record<string, string> = {
  PENDING: 'Pending',
  IN_PROGRESS: 'InProgress',
  DELIVERED: 'Success',
  FAILED: 'Failed',
}

export const jobState = z.object({
  job_id: z.string(),
  url: z.string(),
  aggr_id: z.string(),
  download_state: z.string(),
  download_count: z.int(),
  response_code: z.int(),
  error: z.string(),
  progress: z.unknown(),
  callback_state: z.string(),
  callback_count: z.int(),
  callback_error: z.string(),
})

export const argsOf = ({ args }: JobView) =>
  (args === null ? {} : decodeValue(args)) as { url?: string; askedAt?: number }

export function stateOf(id: string, view: JobView): z.output<typeof jobState> {
  const said = view.error !== null && view.status !== 'running' ? view.error : null
  const error = said && (decodeValue(said) as { message: string; detail?: Detail })
  return {
    job_id: id,
    url: argsOf(view).url ?? '',
    aggr_id: view.group ?? '',
    download_state: downloadStates[view.status] ?? 'Pending',
    download_count: view.attempt,
    response_code: error?.detail?.status ?? (view.status === 'completed' ? 200 : 0),
    error: error?.message ?? '',
    progress: view.progress === null ? null : decodeValue(view.progress),
    callback_state: callbackStates[view.callback?.state ?? ''] ?? '',
    callback_count: view.callback?.attempts ?? 0,
    callback_error: view.callback?.lastError ?? '',
  }
}
