// Importing the vendor's types would change fetch everywhere.

declare module 'cloudflare:workers' {
  export class WorkerEntrypoint<Env> {
    protected env: Env
    protected ctx: { waitUntil: (work: Promise<unknown>) => void }
  }
}
