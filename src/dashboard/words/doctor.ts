// Sentences of the doctor, for the page and its script.

import { count, many } from './number.ts'

/** @example faultsTitle(0, 1_200) // 'No faults in 1,200 jobs' */
export const faultsTitle = (faults: number, jobs: number): string =>
  faults === 0 ? `No faults in ${many(jobs, 'job')}` : many(faults, 'fault')

/** @example lookedAt(500, 1_200, false) // '500 of 1,200 jobs looked at' */
export const lookedAt = (jobs: number, total: number, isOver: boolean): string =>
  isOver ? 'All jobs are looked at' : `${count(jobs)} of ${many(total, 'job')} looked at`
