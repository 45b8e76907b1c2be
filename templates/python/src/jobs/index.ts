// The job classes that this Worker serves itself; `shout` is served by worker.py.

import { report } from './report.ts'

export const functions = [report]
