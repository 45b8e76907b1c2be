import { alerts } from './alerts.ts'
import { audit } from './audit.ts'
import { breakers } from './breakers.ts'
import { bulk } from './bulk.ts'
import { callbacks } from './callbacks.ts'
import { channels } from './channels.ts'
import { deployments } from './deployments.ts'
import { doctor } from './doctor.ts'
import { errors } from './errors.ts'
import { files } from './files.ts'
import { find } from './find.ts'
import { flows, graphs } from './flows.ts'
import { history } from './history.ts'
import { jobs } from './jobs.ts'
import { keys, me } from './keys.ts'
import { constraints, groups, limits } from './limits.ts'
import { links } from './links.ts'
import { log } from './log.ts'
import { ports } from './ports.ts'
import { processes } from './processes.ts'
import { queues } from './queues.ts'
import { recorded } from './recorded.ts'
import type { Route } from './route.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { stats } from './stats.ts'
import { system } from './system.ts'
import { tenants } from './tenants.ts'
import { views } from './views.ts'
import { waiting } from './waiting.ts'
import { workers } from './workers.ts'

export const routes = {
  jobs,
  waiting,
  recorded,
  bulk,
  errors,
  find,
  callbacks,
  ports,
  channels,
  links,
  log,
  workers,
  queues,
  processes,
  limits,
  constraints,
  groups,
  breakers,
  history,
  schedules,
  flows,
  graphs,
  runs,
  stats,
  doctor,
  me,
  keys,
  audit,
  tenants,
  views,
  alerts,
  deployments,
  files,
  system,
}

export type Routes = typeof routes

export const listed = (resource: string, verbs: Record<string, Route>) =>
  Object.entries(verbs).map(([verb, route]) => ({ ...route, resource, verb }))

export const list = Object.entries(routes).flatMap(([resource, verbs]) =>
  listed(resource, verbs as unknown as Record<string, Route>),
)
