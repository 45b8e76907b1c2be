import { askedAtOf, defineWorker, type Job, keyOf } from '../src/index.ts'
import { type Args, type Downloaded, downloadArgs, type Resources } from './download/args.ts'
import { store } from './download/body.ts'
import { checkStatus, countOf } from './download/failure.ts'
import { knownOf, read, recordOf, remember } from './download/known.ts'
import { drop, headersFor, request } from './download/request.ts'
import { sinkOf } from './download/sink.ts'

export type { Downloaded, Resources } from './download/args.ts'

const [SECOND, MINUTE, DAY] = [1_000, 60_000, 86_400_000]

const LARGEST = 1_073_741_824

const KEEP = 30 * DAY

/** Creates a job that deletes the file later, because the download job itself may be removed earlier. */
function keepUntil(job: Job, file: string, record: string | undefined, keep: number): void {
  job.spawn('reap', { queue: 'files', class: 'reap' }, { args: { file, ...(record ? { record } : {}) }, wait: keep })
  job.op({ op: 'disown', child: 'reap' })
}

async function perform(resources: Resources, job: Job, args: Args): Promise<Downloaded> {
  const { now = Date.now } = resources
  const { keep = KEEP } = args
  const record = recordOf(args)
  const known = await knownOf(resources, record)
  const { response, url } = await request(args.url, headersFor(args, known), resources, job)
  if (record && known && response.status === 304) {
    await drop(response)
    const { until, ...file } = known
    await remember(resources, record, { ...known, until: Math.max(until, now() + keep) })
    return { ...file, reused: true }
  }
  const downloaded = await stored(resources, job, args, { response, url })
  if (record) await remember(resources, record, { ...downloaded, until: now() + keep })
  if (!args.bucket) keepUntil(job, downloaded.file, record, keep)
  return downloaded
}

async function stored(
  resources: Resources,
  job: Job,
  args: Args,
  { response, url }: { response: Response; url: string },
): Promise<Downloaded> {
  try {
    checkStatus(response)
  } catch (error) {
    await drop(response)
    throw error
  }
  const file = await resources.files.idOf(job.id, askedAtOf(job, args))
  const sink = sinkOf(resources, args, job)
  const maxSize = Math.min(args.maxSize ?? LARGEST, resources.maxSize ?? LARGEST)
  const looked = await store({ response, args, job, sink, key: keyOf(file), maxSize })
  const [etag, lastModified] = ['etag', 'last-modified'].map((name) => response.headers.get(name) ?? undefined)
  return {
    file,
    url,
    status: response.status,
    ...looked,
    ...(etag ? { etag } : {}),
    ...(lastModified ? { lastModified } : {}),
  }
}

const delays = Array.from({ length: 30 }, (_, i) => (i + 1) * 2 * MINUTE)

/**
 * Runs jobs such as `{ queue: 'downloader', class: 'download', args: { url } }`.
 *
 * @example workers: [download({ files, allowHosts: [] })]
 */
export const download = (resources: Resources) =>
  defineWorker({
    queue: 'downloader',
    class: 'download',
    description: 'Downloads a URL into a bucket, and returns the type, size and checksums of the file.',
    args: downloadArgs,
    checked: 'run',
    redact: ['args.headers'],
    isolate: true,
    timeout: 5 * MINUTE,
    retry: { max: 2, backoff: { delays, jitter: 0 } },
    async perform(job) {
      try {
        const downloaded = await perform(resources, job, job.args)
        job.count(`download.response.${downloaded.status}`)
        return downloaded
      } catch (error) {
        job.count(countOf(error))
        throw error
      }
    },
  })

type Reaped = { file?: string; job?: number; askedAt?: number; record?: string }

/** Keeps the file longer if a later job has requested the same URL. */
export const reap = ({ files, now = Date.now }: Pick<Resources, 'files' | 'now'>) =>
  defineWorker({
    queue: 'files',
    class: 'reap',
    description: 'Deletes a downloaded file.',
    retry: { max: 20, backoff: { base: 10 * SECOND } },
    retain: 0,
    async perform(job) {
      const { job: of, askedAt, record, ...given } = job.args as Reaped
      const file = given.file ?? (await files.idOf(of!, askedAt))
      const known = record ? await read(files, record) : undefined
      const isWanted = known?.file === file
      if (isWanted && known.until > now() + MINUTE) return job.again({ at: known.until })
      await files.bucket.delete(keyOf(file))
      if (isWanted) await files.bucket.delete(record!)
      job.count('reaperSuccessfulDeletions')
    },
  })

/** @example createWorker({ functions, storing: downloads }) */
export const downloads = (resources: Resources) => [download(resources), reap(resources)]
