import type { downloader } from '../facades/downloader/index.ts'
import type { Routes } from '../http/routes.ts'

// Leaves out the routes that only QStash may call.
export type Served = Omit<Routes, 'system'> & {
  system: Omit<Routes['system'], 'dispatch' | 'tick'>
  downloader: typeof downloader
}
