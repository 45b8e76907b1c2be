import type { downloader } from '../facades/downloader/index.ts'
import type { Routes } from '../http/routes.ts'

// Omits the routes that only QStash and other versions call.
export type Served = Omit<Routes, 'system'> & {
  system: Omit<Routes['system'], 'dispatch' | 'perform' | 'tick'>
  downloader: typeof downloader
}
