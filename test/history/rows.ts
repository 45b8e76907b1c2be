import type { EndRow } from '../../src/history/store.ts'

export const T = 1_700_000_000_000

export const row = (job: number, more: Partial<EndRow> = {}): EndRow => ({
  job,
  ended: T + job,
  status: 'completed',
  queue: 'default',
  class: 'zip',
  created: T,
  started: T + job - 5,
  took: 5,
  waited: job,
  attempts: 1,
  lost: 0,
  version: null,
  parent: null,
  name: null,
  labels: null,
  grp: null,
  tag: null,
  priority: 0,
  by: null,
  created_by: null,
  scheduled_for: null,
  args: null,
  result: null,
  error: null,
  error_kind: null,
  error_text: null,
  ...more,
})
