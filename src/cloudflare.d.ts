// The little of the runtime that src/worker.ts uses; the vendor's whole types change those of fetch everywhere.

declare module 'cloudflare:workers' {
  export class WorkerEntrypoint<Env> {
    protected env: Env
    protected ctx: { waitUntil: (work: Promise<unknown>) => void }
  }
}
