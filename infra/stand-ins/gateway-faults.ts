import type { Command } from './resp.ts'

type Fault =
  | { kind: 'drop' }
  | { kind: 'lose' }
  | { kind: 'refuse'; status: number; error: string }
  | { kind: 'delay'; ms: number }

/** The fault affects `times` requests that `when` accepts, beginning with the `nth` (default: the next). */
type Aim = { nth?: number; times?: number; when?: (commands: Command[]) => boolean }

/** @example gateway.faults.refuse(429, { nth: 3 }) // refuses the third request */
export function createFaults() {
  let planned: (Required<Aim> & { fault: Fault })[] = []

  function plan(fault: Fault, { nth = 1, times = 1, when = () => true }: Aim = {}) {
    planned.push({ fault, nth, times, when })
  }

  return {
    drop: (aim?: Aim) => plan({ kind: 'drop' }, aim),
    lose: (aim?: Aim) => plan({ kind: 'lose' }, aim),
    refuse: (status: number, aim?: Aim) =>
      plan({ kind: 'refuse', status, error: refusals[status] ?? `ERR refused with ${status} by the test` }, aim),
    delay: (ms: number, aim?: Aim) => plan({ kind: 'delay', ms }, aim),
    clear() {
      planned = []
    },
    strike(commands: Command[]): Fault[] {
      if (planned.length === 0) return []
      const hits = planned.filter((one) => one.when(commands) && --one.nth <= 0 && one.times-- > 0)
      planned = planned.filter((one) => one.times > 0)
      return hits.map((one) => one.fault)
    },
  }
}

const refusals: Record<number, string> = {
  429: 'ERR max requests limit exceeded. Limit: 500000, Usage: 500000. See https://upstash.com/docs/redis/troubleshooting/max_requests_limit for details',
  503: 'ERR service is unavailable, try again later',
}
