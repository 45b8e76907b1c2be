import type { RunReport } from '../engine/run/report.ts'
import { type Locate, located, ownPlace } from './source-map.ts'

type Printed = { sidejob: 'console'; job: number; class: string; level: string; text: string }
type Run = RunReport & { sidejob: 'run' }

const marks: Record<RunReport['outcome'], string> = {
  completed: '✓',
  suspended: '…',
  follow: '…',
  again: '↻',
  retry: '✗',
  failed: '✗',
  released: '·',
}

const words: Partial<Record<RunReport['outcome'], string>> = {
  suspended: 'waits',
  follow: 'follows its children',
  again: 'again',
}

const seconds = (ms: number) => (ms < 1_000 ? `${ms} ms` : `${Math.round(ms / 100) / 10} s`)

function runLine({ outcome, job, class: name, ms, error, retryIn }: Run, locate: Locate): string {
  const place = error?.stack && ownPlace(error.stack, locate)
  const rest = [
    words[outcome],
    error?.message.replaceAll('\n', ' '),
    place && `${place.file}:${place.line}`,
    retryIn !== undefined && `(next attempt in ${seconds(retryIn)})`,
  ]
  return [marks[outcome], name, `#${job}`, seconds(ms), ...rest].filter(Boolean).join(' ')
}

const printedLine = ({ job, class: name, text }: Printed, locate: Locate): string =>
  `  ${name} #${job} ${located(text, locate).replaceAll('\n', '\n    ')}`

export type Started = { job: number; class: string; token: string }
type Announced = ({ sidejob: 'start' } & Started) | { sidejob: 'end'; job: number }

export function announcedIn(printed: string): Announced | undefined {
  if (!/^\{"sidejob":"(start|end)"/.test(printed)) return undefined
  try {
    return JSON.parse(printed) as Announced
  } catch {
    return undefined
  }
}

/**
 * @example
 * lineOf('{"sidejob":"run","job":7,"class":"double","outcome":"completed","ms":3}', locate) // ✓ double #7 3 ms
 */
export function lineOf(printed: string, locate: Locate): string {
  const text = printed.trimEnd()
  if (!text.startsWith('{"sidejob":')) return located(text, locate)
  try {
    const line = JSON.parse(text) as Run | Printed
    return line.sidejob === 'run' ? runLine(line, locate) : printedLine(line, locate)
  } catch {
    return text
  }
}
