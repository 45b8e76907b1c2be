import type { Hono } from 'hono'
import type { Deps } from './deps.ts'
import type { Admit } from './door.ts'
import type { Gate } from './gate.ts'

export type Given = {
  deps: Deps
  gate: Gate
  /** The API, with the dashboard's own authentication. */
  api: (admit: Admit) => Hono
}

export type Dashboard = (given: Given) => Hono
