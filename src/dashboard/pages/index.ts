// The table of pages. Each is a file of this folder, or a folder with its parts.

import type { Page } from '../page.ts'
import { job } from './job/index.tsx'
import { jobs } from './jobs/index.tsx'

export const pages: readonly Page[] = [jobs, job]
