import { expect } from 'vitest'
import type { Status } from '../../src/core/job.ts'
import type { Row, Step } from './table.ts'

export type Player = {
  advance: (time: string) => Promise<void> | void
  setDefault: (port: string, value: unknown) => Promise<void> | void
  write: (port: string, values: unknown[]) => Promise<void> | void
  /** With `ask`, the job runs at least once. */
  settle: (ask: boolean) => Promise<void>
  look: () => Promise<Seen>
}

export type Seen = {
  status: Status
  error?: string
  out: Record<string, unknown[]>
  outDefaults: Record<string, unknown>
  left: Record<string, number>
}

const given = ({ out = [] }: Step): Record<string, unknown[]> => (Array.isArray(out) ? { out } : out)

const filled = (ports: Record<string, unknown[]>) =>
  Object.fromEntries(Object.entries(ports).filter(([, values]) => values.length > 0))

export async function play({ steps }: Pick<Row, 'steps'>, job: Player): Promise<void> {
  let outDefaults: Record<string, unknown> | undefined
  for (const step of steps) {
    if (step.after) await job.advance(step.after)
    for (const [port, value] of Object.entries(step.defaults ?? {})) await job.setDefault(port, value)
    const writing = async () => {
      for (const [port, values] of Object.entries(step.give ?? {})) await job.write(port, values)
    }
    if (step.refused) {
      await expect(writing()).rejects.toThrow(step.refused)
      continue
    }
    await writing()
    await job.settle(step.after === undefined)
    const seen = await job.look()
    const status = step.status ?? (step.error ? 'failed' : 'completed')
    expect({ status: seen.status, error: step.error ? undefined : seen.error }).toEqual({ status })
    if (step.error) expect(seen.error).toMatch(step.error)
    expect(filled(seen.out)).toEqual(filled(given(step)))
    if (step.left) expect(seen.left).toMatchObject(step.left)
    outDefaults = step.outDefaults ?? outDefaults ?? {}
    expect(seen.outDefaults).toEqual(outDefaults)
  }
}
