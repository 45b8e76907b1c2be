import { tryRead } from '../../core/readable.ts'
import { events, keptSteps } from '../../core/series.ts'
import type { Parts } from '../parts.ts'
import { decodeQueue } from '../record.ts'
import * as scripts from '../scripts.generated.ts'
import { limitRow } from './limits.ts'
import { activityOf } from './reads.ts'
import { parseState, stateKeys } from './system-state.ts'

type Step = keyof typeof keptSteps

const MOST_KEYS = 2_400

function latestOf(text: string | null, step: Step): string {
  const { counts, earlierCounts, minuteWait, hourWait } = tryRead(() => decodeQueue(text ?? '{}')) ?? {}
  const waited = (step === 'minute' ? minuteWait : hourWait) ?? 0
  return [0, waited, ...events.map((name) => (earlierCounts?.[name] ?? 0) + (counts?.[name] ?? 0))].join()
}

export function createGlance({ client: { ask }, keys, call, moments }: Parts) {
  let known: string[] = []

  /** Reads with MGET, because a script would lock all keys. */
  async function read(queues: readonly string[], step: Step) {
    if (queues.length === 0) return []
    const steps = Array.from({ length: keptSteps[step] }, (_, i) => i)
    const all = queues.map((queue) => [keys.queue(queue), ...steps.map((i) => keys.counts(queue, step, i))])
    const atOnce = Math.floor(MOST_KEYS / all[0]!.length)
    const found = await ask((redis) => {
      const pipeline = redis.pipeline()
      for (let from = 0; from < all.length; from += atOnce) pipeline.mget(...all.slice(from, from + atOnce).flat())
      return pipeline.exec<(string | null)[][]>()
    })
    const texts = found.flat()
    return queues.map((queue, i) => {
      const [now, ...before] = texts.slice(i * all[0]!.length, (i + 1) * all[0]!.length)
      return { queue, latest: latestOf(now!, step), before: before.filter((text) => text !== null) }
    })
  }

  async function countsOf(names: Promise<string[]>, step: Step, most: number) {
    const [all, early] = await Promise.all([names, read(known, step)])
    const shown = all.slice(0, most)
    known = shown
    const rows = new Map(early.map((row) => [row.queue, row]))
    const late = await read(
      shown.filter((name) => !rows.has(name)),
      step,
    )
    for (const row of late) rows.set(row.queue, row)
    return shown.map((name) => rows.get(name)!)
  }

  async function series(queue: string, step: Step, most: number) {
    if (queue) return { rows: await read([queue], step), more: false, now: moments.now() }
    const names = ask<string[]>((redis) => redis.smembers(keys.queues)).then((all) => all.sort())
    return { rows: await countsOf(names, step, most), more: (await names).length > most, now: moments.now() }
  }

  async function glance(step: Step | undefined, most: { queues: number; limits: number; runs: number }) {
    const args = { whole: step ?? '', most_limits: most.limits, most_runs: most.runs }
    const asked = call(scripts.glance, args, { keys: stateKeys(keys) })
    const names = () => asked.then(({ queues }) => queues.map(({ name }) => name))
    const rows = step ? await countsOf(names(), step, most.queues) : []
    const { texts, queues, limits, there, lanes, processes, runs, moreRuns, now } = await asked
    return {
      overview: { queues, now },
      series: { rows, more: queues.length > most.queues, now },
      limits: limits.map(limitRow),
      atWork: activityOf({ lanes, processes, runs, more: moreRuns, now }),
      systemState: parseState(texts.map((text) => text || null)),
      hasSchedules: there % 2 === 1,
      hasMutes: there >= 2,
    }
  }

  return { glance, series }
}
