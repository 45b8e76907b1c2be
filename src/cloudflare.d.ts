// Cloudflare's own types are not used, because they would change the type of `fetch` in all files.

declare module 'cloudflare:workers' {
  export class WorkerEntrypoint<Env> {
    protected env: Env
    protected ctx: { waitUntil: (work: Promise<unknown>) => void }
  }
}
