// The job classes that this Worker serves; worker.py serves the class `shout`.

import { report } from './report.ts'

export const functions = [report]
