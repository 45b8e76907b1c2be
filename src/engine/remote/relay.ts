// Messages for more listeners than one script may reach: a job for each such channel hands them on, a page in each run.
// What a run does is in Redis alone (lib/port/relay.lua), so a run that is lost has handed on nothing.

import type { RunOutcome } from '../../redis/changes.ts'
import { ops } from '../../redis/ops.ts'
import type { ClaimedJob } from '../../redis/types.ts'

export const RELAYS = { queue: 'sidejob.relay', class: 'relay' } as const

/** One run of a relay, as it is to be committed. */
export const relay = async ({ document }: ClaimedJob): Promise<RunOutcome> => ({
  token: document.token!,
  n: 0,
  end: 'completed',
  words: ops.relay(),
})
