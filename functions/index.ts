// The workers of this deployment: add yours to the list.

import { core } from './core.ts'
import { downloads } from './download.ts'

export const workers = [...core]

/** Those that need what only a deployment has: a place for files. */
export const storing = downloads
