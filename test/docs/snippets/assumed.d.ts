// Snippets use these names without a declaration.

import type { Job } from 'sidejob'
import type { Client } from 'sidejob/client'

declare global {
  const client: Client
  const job: Job
  const url: string
  const key: string
  const writeReport: (slot: Date | null) => Promise<void>
  const createInvoice: (args: unknown) => Promise<{ id: string }>
  const mail: (invoice: { id: string }) => Promise<void>
  const charge: (month: number) => Promise<{ id: string }>
}
