// All rules by their number.

import type { Facts } from '../direct.ts'
import { lanes } from './lanes.ts'

export const rules: Record<number, Facts> = { ...lanes }
