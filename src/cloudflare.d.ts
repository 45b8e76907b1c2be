// Cloudflare's own types would change `fetch` in all files.

declare module 'cloudflare:workers' {
  export class WorkerEntrypoint<Env> {
    protected env: Env
    protected ctx: { waitUntil: (work: Promise<unknown>) => void }
  }
}
