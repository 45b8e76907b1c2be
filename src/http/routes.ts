// The table of routes: everything that can be asked for. Checks, scopes, OpenAPI, docs and the typed client come from it.

import { bulk } from './bulk.ts'
import { callbacks } from './callbacks.ts'
import { channels } from './channels.ts'
import { doctor } from './doctor.ts'
import { bedrock } from './facades/bedrock.ts'
import { downloader } from './facades/downloader.ts'
import { jq } from './facades/jq.ts'
import { files } from './files.ts'
import { flows, graphs } from './flows.ts'
import { jobs } from './jobs.ts'
import { keys } from './keys.ts'
import { constraints, groups, limits } from './limits.ts'
import { log } from './log.ts'
import { ports } from './ports.ts'
import { queues } from './queues.ts'
import type { Route } from './route.ts'
import { runs } from './runs.ts'
import { schedules } from './schedules.ts'
import { stats } from './stats.ts'
import { system } from './system.ts'
import { workers } from './workers.ts'

export const routes = {
  jobs,
  bulk,
  callbacks,
  ports,
  channels,
  log,
  workers,
  queues,
  limits,
  constraints,
  groups,
  schedules,
  flows,
  graphs,
  runs,
  stats,
  doctor,
  keys,
  files,
  downloader,
  system,
}

export type Routes = typeof routes

/** The table as a list, with each route's resource and verb: `jobs`, `enqueue`. */
export const list = Object.entries(routes).flatMap(([resource, verbs]) =>
  Object.entries(verbs as unknown as Record<string, Route>).map(([verb, route]) => ({ ...route, resource, verb })),
)

/** The same for the routes that speak the words of other systems; the typed client leaves them to those systems' clients. */
export const facades = Object.entries({ bedrock, jq }).flatMap(([resource, verbs]) =>
  Object.entries(verbs as unknown as Record<string, Route>).map(([verb, route]) => ({ ...route, resource, verb })),
)
