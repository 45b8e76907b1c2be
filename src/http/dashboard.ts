// The dashboard. The app passes its dependencies and knows none of its pages.

import type { Hono } from 'hono'
import type { Deps } from './deps.ts'
import type { Admit } from './door.ts'
import type { Gate } from './gate.ts'

export type Given = {
  deps: Deps
  /** The API's gate, so that pages and API share limits. */
  gate: Gate
  /** The routes of the API behind the dashboard's own authentication. */
  api: (door: Admit) => Hono
}

/** Creates the pages below `/ui`. */
export type Dashboard = (given: Given) => Hono
