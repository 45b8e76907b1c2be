import type { Page } from '../page.ts'
import { callbacks } from './callbacks/index.tsx'
import { channels } from './channels.tsx'
import { deploys } from './deploys.tsx'
import { doctor } from './doctor.tsx'
import { files } from './files.tsx'
import { find } from './find.tsx'
import { edit } from './flows/edit.tsx'
import { flow } from './flows/index.tsx'
import { flows } from './flows/list.tsx'
import { job } from './job/index.tsx'
import { jobs } from './jobs/index.tsx'
import { keys } from './keys.tsx'
import { group } from './limits/group.tsx'
import { limits } from './limits/index.tsx'
import { log } from './log.tsx'
import { more } from './more.tsx'
import { newJob } from './new-job.tsx'
import { overview } from './overview/index.tsx'
import { pastJob } from './past-job.tsx'
import { queues } from './queues/index.tsx'
import { queue } from './queues/one.tsx'
import { schedules } from './schedules/index.tsx'
import { worker, workers } from './workers/index.tsx'

export const pages: readonly Page[] = [
  overview,
  jobs,
  newJob,
  job,
  pastJob,
  flows,
  flow,
  edit,
  queues,
  queue,
  schedules,
  limits,
  group,
  workers,
  worker,
  channels,
  callbacks,
  files,
  log,
  deploys,
  keys,
  doctor,
  find,
  more,
]
