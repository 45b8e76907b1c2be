import type { Fault } from './broken.ts'

export type Mutation = Fault & { rule: number }

export type Change = [find: string, replace: string, says: string]

export const of = (rule: number, file: string, ...changes: Change[]): Mutation[] =>
  changes.map(([find, replace, says]) => ({ rule, file, find, replace, says }))
