// The workers of this deployment. Add yours here.

import { core } from './core.ts'
import { downloads } from './download.ts'

export const workers = [...core]

export const storing = downloads
