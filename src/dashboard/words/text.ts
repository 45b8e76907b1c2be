import type { Status } from '../../core/job.ts'
import { plain } from './json.ts'

/** Cut in the middle, so that both ends can be read. */
export const cut = (text: string, most = 40): string => {
  const letters = [...plain(text)]
  if (letters.length <= most) return letters.join('')
  const head = Math.ceil((most - 1) / 2)
  return `${letters.slice(0, head).join('')}…${letters.slice(letters.length - (most - 1 - head)).join('')}`
}

export const title = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

export const statusOrder: readonly Status[] = [
  'queued',
  'running',
  'suspended',
  'completed',
  'failed',
  'terminating',
  'terminated',
]

export const listed = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
