// What can be made to go wrong, for tests: each fault is armed for the next few messages and then spent.

type Armed = {
  duplicate: 'together' | 'after'
  late: number
  reorder: true
  drop: true
  refuse: 429 | 500
}

export type Faults = ReturnType<typeof createFaults>
type Times = { times?: number }

export function createFaults() {
  const armed: { [kind in keyof Armed]: Armed[kind][] } = { duplicate: [], late: [], reorder: [], drop: [], refuse: [] }

  const arm = <K extends keyof Armed>(kind: K, value: Armed[K], times: number) => {
    for (let i = 0; i < times; i++) armed[kind].push(value)
  }

  return {
    /** The next delivery is made twice: both at once, or the second after the answer to the first. */
    duplicate({ times = 1, when = 'together' }: Times & { when?: Armed['duplicate'] } = {}) {
      arm('duplicate', when, times)
    },

    /** The next delivery is made `ms` after it was due. */
    late(ms: number, { times = 1 }: Times = {}) {
      arm('late', ms, times)
    },

    /** The next `count` deliveries wait for each other and are then made in reverse order. */
    reorder(count = 2) {
      arm('reorder', true, count)
    },

    /** The next publish is accepted, and its answer is lost with the connection. */
    dropAnswer({ times = 1 }: Times = {}) {
      arm('drop', true, times)
    },

    /** The next publish is refused: 429 as over the daily quota, 500 as broken. */
    refuse(status: Armed['refuse'], { times = 1 }: Times = {}) {
      arm('refuse', status, times)
    },

    take: <K extends keyof Armed>(kind: K): Armed[K] | undefined => armed[kind].shift() as Armed[K] | undefined,
    left: (kind: keyof Armed): number => armed[kind].length,
  }
}
