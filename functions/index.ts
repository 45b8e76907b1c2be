// The workers of this deployment: add yours to the list.

import { core } from './core.ts'
import { downloads } from './download.ts'

export const workers = [...core]

/** Functions that need storage for files. */
export const storing = downloads
