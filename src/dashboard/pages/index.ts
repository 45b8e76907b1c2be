// The table of pages, each a file of this folder, or a folder with its parts. Of two that fit a path the first is served.

import type { Page } from '../page.ts'
import { find } from './find.tsx'
import { job } from './job/index.tsx'
import { jobs } from './jobs/index.tsx'
import { limits } from './limits/index.tsx'
import { more } from './more.tsx'
import { newJob } from './new-job.tsx'
import { overview } from './overview/index.tsx'
import { queue, queues } from './queues.tsx'

export const pages: readonly Page[] = [overview, jobs, newJob, job, queues, queue, limits, find, more]
