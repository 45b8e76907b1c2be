import type { downloader } from '../facades/downloader/index.ts'
import type { Routes } from '../http/routes.ts'

// Only QStash may call the omitted routes.
export type Served = Omit<Routes, 'system'> & {
  system: Omit<Routes['system'], 'dispatch' | 'tick'>
  downloader: typeof downloader
}
