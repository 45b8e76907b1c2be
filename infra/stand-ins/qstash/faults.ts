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
    duplicate({ times = 1, when = 'together' }: Times & { when?: Armed['duplicate'] } = {}) {
      arm('duplicate', when, times)
    },

    late(ms: number, { times = 1 }: Times = {}) {
      arm('late', ms, times)
    },

    reorder(count = 2) {
      arm('reorder', true, count)
    },

    dropAnswer({ times = 1 }: Times = {}) {
      arm('drop', true, times)
    },

    refuse(status: Armed['refuse'], { times = 1 }: Times = {}) {
      arm('refuse', status, times)
    },

    take: <K extends keyof Armed>(kind: K): Armed[K] | undefined => armed[kind].shift() as Armed[K] | undefined,
    left: (kind: keyof Armed): number => armed[kind].length,
  }
}
