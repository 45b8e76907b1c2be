// What the pages take for granted: a client, a deployment's address and key, what `wrangler types` writes, and functions of
// a reader's own.

import type { Job } from 'sidejob'
import type { Client } from 'sidejob/client'
import type { SidejobEnv } from 'sidejob/cloudflare'

declare global {
  type Env = SidejobEnv & { STRIPE_WEBHOOK_SECRET: string }
  const client: Client
  const job: Job
  const url: string
  const key: string
  const writeReport: (slot: Date | null) => Promise<void>
  const createInvoice: (args: unknown) => Promise<{ id: string }>
  const mail: (invoice: { id: string }) => Promise<void>
  const charge: (month: number) => Promise<{ id: string }>
}
