import type { Facts } from '../direct.ts'
import { ageing } from './ageing.ts'
import { measured } from './amounts.ts'
import { branching } from './branches.ts'
import { broken } from './breakers.ts'
import { callbacks } from './callbacks.ts'
import { channels } from './channels.ts'
import { classes } from './classes.ts'
import { counting } from './counts.ts'
import { data } from './data.ts'
import { families } from './family.ts'
import { flows } from './flows.ts'
import { handed } from './handed.ts'
import { lastMessages } from './kept.ts'
import { kinds } from './kinds.ts'
import { lanes } from './lanes.ts'
import { limited } from './limits.ts'
import { listening } from './listeners.ts'
import { logged } from './logs.ts'
import { marks } from './marks.ts'
import { oneTime } from './once.ts'
import { pastRuns } from './past-runs.ts'
import { packed } from './pieces.ts'
import { places } from './places.ts'
import { ported } from './ported.ts'
import { processes } from './processes.ts'
import { reaching } from './reach.ts'
import { runs } from './runs.ts'
import { set } from './settings.ts'
import { shelves } from './shelves.ts'
import { sizes } from './sizes.ts'
import { stats } from './stats.ts'
import { time } from './time.ts'
import { told } from './told.ts'
import { warm } from './warm.ts'

const files: Record<number, Facts>[] = [
  lanes,
  runs,
  places,
  packed,
  ported,
  time,
  families,
  limited,
  channels,
  lastMessages,
  listening,
  oneTime,
  callbacks,
  flows,
  ageing,
  broken,
  data,
  marks,
  counting,
  reaching,
  processes,
  branching,
  stats,
  classes,
  warm,
  handed,
  measured,
  sizes,
  told,
  set,
  logged,
  pastRuns,
  shelves,
  kinds,
]

function merged(files: Record<number, Facts>[]): Record<number, Facts> {
  const numbers = files.flatMap((file) => Object.keys(file))
  const twice = numbers.filter((number, i) => numbers.indexOf(number) !== i)
  if (twice.length > 0) throw new Error(`two files have facts of the rules ${twice.join(', ')}`)
  return Object.assign({}, ...files)
}

export const rules = merged(files)
