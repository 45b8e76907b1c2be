import { fitsGlob, type Job, type Sink, Terminal } from '../../src/index.ts'
import { s3Sink } from '../s3.ts'
import type { Args, Resources } from './args.ts'
import { guarded } from './request.ts'

function endpointOf(
  bucket: NonNullable<Args['bucket']>,
  allowed: readonly string[],
  allowHosts: readonly string[],
): URL {
  const given = bucket.endpoint ?? `https://s3.${bucket.region}.amazonaws.com`
  const { href, origin } = guarded(given, allowHosts)
  if (href !== `${origin}/`) throw new Terminal(`bucket.endpoint: expected an origin like ${origin}, got ${href}`)
  const name = bucket.endpoint ? `${origin}/${bucket.name}` : bucket.name
  if (!allowed.some((one) => fitsGlob(one, name)))
    throw new Terminal(`bucket ${name} is not configured in this deployment; add it to SIDEJOB_S3_BUCKETS`)
  return new URL(origin)
}

export function sinkOf(
  { files, s3, allowHosts, fetch = globalThis.fetch }: Resources,
  { bucket }: Args,
  job: Job,
): Sink {
  if (!bucket) return files.bucket
  if (!s3) throw new Terminal('external buckets need SIDEJOB_S3_ACCESS_KEY_ID and SIDEJOB_S3_SECRET_ACCESS_KEY')
  const endpoint = endpointOf(bucket, s3.buckets, allowHosts)
  return s3Sink({ ...s3, bucket: bucket.name, region: bucket.region, endpoint, fetch, signal: job.signal })
}
