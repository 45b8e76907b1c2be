import { createSlots, type Slots } from '../../core/slots.ts'
import { createDeadlines, type Deadlines } from './deadlines.ts'
import { Stops } from './stops.ts'

/** Cloudflare allows 32 invocations per request. Two are left for the user's code. */
export const MAX_ISOLATED = 30

/** Does not count requests of functions. */
export type Sent = { requests: number }

/** Shared by the runs of one invocation. */
export type Usage = {
  isolated: number
  deadlines: Deadlines
  calls: Slots
  sent: Sent
  stops: Stops
  ends: number
  handsOver: boolean
}

export const newUsage = ({
  calls = createSlots(),
  sent = { requests: 0 },
  ends = Number.POSITIVE_INFINITY,
}: Partial<Usage> = {}): Usage => ({
  isolated: 0,
  deadlines: createDeadlines(),
  calls,
  sent,
  stops: new Stops(),
  ends,
  handsOver: false,
})

export const isUsedUp = ({ isolated, handsOver }: Usage): boolean => handsOver || isolated >= MAX_ISOLATED
