// A cron pattern in words.

import cronstrue from 'cronstrue'

/** Returns nothing for an invalid pattern. @example cronWords('30 2 * * *') // 'At 02:30' */
export function cronWords(pattern: string): string | undefined {
  try {
    return cronstrue.toString(pattern, { use24HourTimeFormat: true, verbose: false })
  } catch {
    return undefined
  }
}
