// A fake of Cloudflare's uploads: wrangler sends a manifest, and then the files that Cloudflare does not have yet.

type Entry = { hash: string; size: number }
type Form = Iterable<[string, FormDataEntryValue]>

export type Files = Map<string, Buffer>

export function createAssets() {
  const contents = new Map<string, Buffer>()
  const sessions = new Map<string, Record<string, Entry>>()

  /** wrangler reads the token's expiry. */
  const tokenOf = (session: string) => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    return `${part({ alg: 'none' })}.${part({ session, exp: 4_000_000_000 })}.x`
  }
  const sessionOf = (token: string) =>
    (JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { session: string }).session

  return {
    begin(manifest: Record<string, Entry>) {
      const session = crypto.randomUUID()
      sessions.set(session, manifest)
      const missing = Object.values(manifest).flatMap(({ hash }) => (contents.has(hash) ? [] : [hash]))
      return { jwt: tokenOf(session), buckets: missing.length ? [[...new Set(missing)]] : [] }
    },
    async upload(token: string, form: Form) {
      for (const [hash, part] of form)
        contents.set(hash, Buffer.from(part instanceof Blob ? await part.text() : part, 'base64'))
      return { jwt: tokenOf(sessionOf(token)) }
    },
    filesOf(token: string): Files {
      const manifest = sessions.get(sessionOf(token)) ?? {}
      return new Map(Object.entries(manifest).map(([path, { hash }]) => [path, contents.get(hash)!]))
    },
  }
}
