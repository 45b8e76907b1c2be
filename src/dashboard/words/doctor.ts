import { count, many } from './text.ts'

export const faultsTitle = (faults: number, jobs: number): string =>
  faults === 0 ? `No faults in ${many(jobs, 'job')}` : many(faults, 'fault')

export const checkedText = (jobs: number, total: number, isOver: boolean): string =>
  isOver ? 'All jobs are checked' : `${count(jobs)} of ${many(total, 'job')} checked`
