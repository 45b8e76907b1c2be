import type { Dashboard } from '../http/dashboard.ts'
import { createPages, type DashboardOptions } from './app.tsx'

export type { Dashboard } from '../http/dashboard.ts'

export type { DashboardOptions } from './app.tsx'

/** @example createWorker({ functions: [double], mount: '/_sidejob', dashboard: dashboard({ name: 'production' }) }) */
export const dashboard =
  (options: DashboardOptions = {}): Dashboard =>
  (given) =>
    createPages(given, options)
