import type { Bucket } from '../core/files.ts'
import { addressOf, NAMESPACE, namespaceOf } from '../core/tenant.ts'
import type { Deployment } from '../environment.ts'

export const folderOf = (bucket: Bucket, folder: string): Bucket => ({
  head: (key) => bucket.head(folder + key),
  get: (key, range) => bucket.get(folder + key, range),
  put: (key, bytes, options) => bucket.put(folder + key, bytes, options),
  upload: (key, options) => bucket.upload(folder + key, options),
  delete: (key) => bucket.delete(folder + key),
  async list(page) {
    const { objects, cursor } = await bucket.list({ ...page, prefix: folder })
    return { objects: objects.map((kept) => ({ ...kept, key: kept.key.slice(folder.length) })), cursor }
  },
})

export function deploymentFor(deployment: Deployment, tenant: string): Deployment {
  const { engine, downloads, fileSecret } = deployment
  const { tokenSecret } = engine
  const publicUrl = addressOf(deployment.publicUrl, tenant)
  const { base } = downloads
  const isOwn = base?.startsWith(`${deployment.publicUrl}/`)
  return {
    ...deployment,
    publicUrl,
    engine: {
      ...engine,
      namespace: namespaceOf(engine.namespace ?? NAMESPACE, tenant),
      qstash: { ...engine.qstash, publicUrl },
      // http/door.ts has already checked the deployment's own key.
      apiKey: undefined,
      tokenSecret: `tenant ${tenant} of ${tokenSecret}`,
      versionUrl: engine.versionUrl && addressOf(engine.versionUrl, tenant),
    },
    downloads: { ...downloads, base: isOwn ? `${publicUrl}/files` : base && addressOf(base, tenant) },
    fileSecret: `tenant ${tenant} of ${fileSecret}`,
  }
}
