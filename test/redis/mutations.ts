// A mutation is a change of a Redis script that breaks a rule. Three parts of rules have no mutations, because they are
// written in TypeScript: take back an unpublished bell (rule 2), wait for jobs that are due soon (rule 19), and compute
// the next slot (rule 22).

import type { Mutation } from './mutation.ts'
import { mutations as ageing } from './rules/ageing.mutations.ts'
import { mutations as amounts } from './rules/amounts.mutations.ts'
import { mutations as branches } from './rules/branches.mutations.ts'
import { mutations as breakers } from './rules/breakers.mutations.ts'
import { mutations as callbacks } from './rules/callbacks.mutations.ts'
import { mutations as channels } from './rules/channels.mutations.ts'
import { mutations as classes } from './rules/classes.mutations.ts'
import { mutations as counts } from './rules/counts.mutations.ts'
import { mutations as data } from './rules/data.mutations.ts'
import { mutations as family } from './rules/family.mutations.ts'
import { mutations as flows } from './rules/flows.mutations.ts'
import { mutations as handed } from './rules/handed.mutations.ts'
import { mutations as kept } from './rules/kept.mutations.ts'
import { mutations as kinds } from './rules/kinds.mutations.ts'
import { mutations as lanes } from './rules/lanes.mutations.ts'
import { mutations as limits } from './rules/limits.mutations.ts'
import { mutations as listeners } from './rules/listeners.mutations.ts'
import { mutations as logs } from './rules/logs.mutations.ts'
import { mutations as marks } from './rules/marks.mutations.ts'
import { mutations as once } from './rules/once.mutations.ts'
import { mutations as pastRuns } from './rules/past-runs.mutations.ts'
import { mutations as pieces } from './rules/pieces.mutations.ts'
import { mutations as places } from './rules/places.mutations.ts'
import { mutations as ported } from './rules/ported.mutations.ts'
import { mutations as processes } from './rules/processes.mutations.ts'
import { mutations as reach } from './rules/reach.mutations.ts'
import { mutations as runs } from './rules/runs.mutations.ts'
import { mutations as settings } from './rules/settings.mutations.ts'
import { mutations as shelves } from './rules/shelves.mutations.ts'
import { mutations as sizes } from './rules/sizes.mutations.ts'
import { mutations as stats } from './rules/stats.mutations.ts'
import { mutations as time } from './rules/time.mutations.ts'
import { mutations as told } from './rules/told.mutations.ts'
import { mutations as warm } from './rules/warm.mutations.ts'

export const mutations: Mutation[] = [
  ...ageing,
  ...amounts,
  ...branches,
  ...breakers,
  ...callbacks,
  ...channels,
  ...classes,
  ...counts,
  ...data,
  ...family,
  ...flows,
  ...handed,
  ...kept,
  ...kinds,
  ...lanes,
  ...limits,
  ...listeners,
  ...logs,
  ...marks,
  ...once,
  ...pastRuns,
  ...pieces,
  ...places,
  ...ported,
  ...processes,
  ...reach,
  ...runs,
  ...settings,
  ...shelves,
  ...sizes,
  ...stats,
  ...time,
  ...told,
  ...warm,
]
