import type { Dashboard } from '../http/dashboard.ts'
import { createPages } from './app.tsx'
import type { DashboardOptions } from './options.ts'

export type { Dashboard } from '../http/dashboard.ts'

export type { DashboardOptions } from './options.ts'

/** @example createWorker({ functions: [double], mount: '/_sidejob', dashboard: dashboard({ name: 'production' }) }) */
export const dashboard =
  (options: DashboardOptions = {}): Dashboard =>
  (given) =>
    createPages(given, options)
