import type { Encoded } from '../../../src/core/codec/value.ts'
import type { Constraint } from '../../../src/core/constraint.ts'
import { createConstraints } from '../../../src/engine/jobs/constraints.ts'
import type { JobRecord } from '../../../src/redis/record.ts'
import type { CommitAnswer } from '../../../src/redis/types.ts'
import { registry } from './classes.ts'
import type { Process, World } from './world.ts'

export const HOSTS = ['x', 'y']

export const argsWith = (host: string): Encoded => JSON.stringify({ host }) as Encoded

const hostOf = ({ args }: JobRecord): string | undefined => HOSTS.find((host) => args === argsWith(host))

type Kind = {
  match: Constraint['match']
  groupBy?: string
  /** Does not use the engine's code that matches jobs, because the test checks this code. */
  keyOf: (doc: JobRecord) => string | undefined
  bounds: Pick<Constraint, 'concurrency' | 'rate'>[]
}

export const kinds: Record<string, Kind> = {
  streams: {
    match: { class: 'stream' },
    keyOf: (doc) => (doc.class === 'stream' ? 'constraint:streams' : undefined),
    bounds: [{ concurrency: 1 }, { concurrency: 2 }, { concurrency: 3 }],
  },
  hosts: {
    match: { args: { host: { glob: '*' } } },
    groupBy: 'host',
    keyOf: (doc) => (hostOf(doc) === undefined ? undefined : `constraint:hosts:"${hostOf(doc)}"`),
    bounds: [{ concurrency: 1 }, { concurrency: 2 }, { rate: { limit: 2, period: 6_000 } }],
  },
  queue: {
    match: { queue: 'b' },
    keyOf: (doc) => (doc.queue === 'b' ? 'constraint:queue' : undefined),
    bounds: [{ concurrency: 2 }, { concurrency: 4 }, { rate: { limit: 3, period: 4_000 } }],
  },
}

export const constraintKeys = [
  'constraint:streams',
  'constraint:queue',
  ...HOSTS.map((host) => `constraint:hosts:"${host}"`),
]

export function createConstraintClients(world: World) {
  const { store, random } = world

  const isolates = [0, 1].map(() =>
    createConstraints(
      {
        ...store,
        change: async (job: string, words: Parameters<typeof store.change>[1]) => {
          world.send({ label: 'tag', call: () => store.change(job, words), got: ({ rings }) => world.ring(rings) })
          return { answer: [], rings: [] }
        },
      } as unknown as typeof store,
      registry,
    ),
  )

  function set(name: string, definition: Constraint | null): void {
    world.send({
      label: definition ? 'constraint set' : 'constraint removed',
      call: () => store.constraint(name, definition && JSON.stringify(definition)),
      got: ({ constraints, rings }) => {
        random.pick(isolates).learn(constraints)
        world.ring(rings)
      },
    })
  }

  const someName = (): string => random.pick(Object.keys(kinds))

  function put(): void {
    const name = someName()
    const { match, groupBy, bounds } = kinds[name]!
    set(name, { match, ...(groupBy ? { groupBy } : {}), ...random.pick(bounds) })
  }

  return {
    acts: [
      { weight: 5, act: put },
      { weight: 2, act: () => set(someName(), null) },
    ],

    enqueue: (...args: Parameters<(typeof isolates)[0]['enqueue']>) => random.pick(isolates).enqueue(...args),

    retag(by: Process, answer: Pick<CommitAnswer, 'stale' | 'version'>): void {
      if (answer.stale.length === 0) return
      const isolate = random.pick(isolates)
      world.after(0, async () => {
        if (!by.dead) await isolate.retag(answer)
      })
    },
  }
}

export type ConstraintClients = ReturnType<typeof createConstraintClients>
