// All rules by their number.

import type { Facts } from '../direct.ts'
import { lanes } from './lanes.ts'
import { places } from './places.ts'
import { runs } from './runs.ts'

export const rules: Record<number, Facts> = { ...lanes, ...runs, ...places }
