// The job classes of this Worker. Add yours to the list.

import { approval } from './approval.ts'
import { double } from './double.ts'

export const functions = [approval, double]
