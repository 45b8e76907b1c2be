// A cron pattern in words.

import cronstrue from 'cronstrue'

/** Nothing for what is no pattern, or none that has words. @example cronWords('30 2 * * *') // 'At 02:30' */
export function cronWords(pattern: string): string | undefined {
  try {
    return cronstrue.toString(pattern, { use24HourTimeFormat: true, verbose: false })
  } catch {
    return undefined
  }
}
