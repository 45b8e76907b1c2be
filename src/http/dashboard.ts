// Pages for people, served beside the API. The app knows none of them: it gives them what they are made of.

import type { Hono } from 'hono'
import type { Deps } from './deps.ts'
import type { Admit } from './door.ts'
import type { Gate } from './gate.ts'

export type Given = {
  deps: Deps
  /** The same that the API has: pages and API count together. */
  gate: Gate
  /** The routes of the API once more, behind a door of the pages' own. */
  api: (door: Admit) => Hono
}

/** Makes the pages; they are laid below `/ui`. */
export type Dashboard = (given: Given) => Hono
