import { type Encoded, encodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { faultText } from '../../core/issues.ts'
import { mapValues } from '../../core/map-values.ts'
import { redacted } from '../../core/redact.ts'
import type { Changes, Snapshot } from '../../core/run.ts'
import type { Tried } from '../../core/schemas/flows.ts'
import type { Ports, Worker } from '../../core/worker.ts'
import { faultIn } from '../jobs/checks.ts'
import type { Registered } from '../jobs/registry.ts'
import { LostRun } from '../run/function.ts'
import { judging } from '../run/judge.ts'

/** Maximum milliseconds for all runs together, and for one run. */
const [ALL, ONE] = [10_000, 2_000]

const listening = ({ channels = [], default: value }: Ports[string]) => ({
  channels,
  ...(value === undefined ? {} : { default: { data: encodeValue(value) } }),
})

const named = ({ '*': _, ...ports }: Ports = {}): Ports => ports

function snapshotOf(worker: Worker, port: string, data: Encoded, now: number): Snapshot {
  const unread = { cursor: 0, values: [], more: 0 }
  const ports = mapValues(named(worker.in), (one) => ({ ...listening(one), ...unread }))
  return {
    run: { token: '0.0.try', attempt: 1, lost: 0, reason: 'run', timeout: ONE, startedAt: now, leaseUntil: now + ONE },
    job: {
      id: 1,
      queue: worker.queue ?? 'default',
      class: worker.class,
      args: null,
      name: null,
      createdAt: now,
      createdBy: '',
      ranAt: null,
      parent: null,
      aliases: [],
    },
    state: {},
    in: { ...ports, [port]: { channels: [], ...ports[port], ...unread, values: [{ data }] } },
    out: mapValues(named(worker.out), (one) => ({ ...listening(one), size: 0 })),
    children: {},
    steps: {},
  }
}

async function tryOne(found: Registered, port: string, data: Encoded): Promise<Tried> {
  const fault = faultIn(found, { dir: 'in', port }, data)
  if (fault) return { in: data, out: {}, note: faultText(fault) }
  const out = new Map<string, Encoded[]>()
  let stop: string | undefined
  const note = ({ ops = [] }: Partial<Changes>): void => {
    for (const op of ops) {
      if (op.op !== 'write' || !('out' in op.to) || 'child' in op.to || 'job' in op.to || op.setDefault) continue
      const { out: name } = op.to
      const shown = op.values.map((value) => redacted(value, found.definition.redact ?? [], 'out', name))
      out.set(name, [...(out.get(name) ?? []), ...shown])
    }
  }
  const { changes, why } = await judging(
    found.local!,
    snapshotOf(found.local!, port, data, Date.now()),
    { patience: ONE },
    {
      async checkpoint(made) {
        note(made)
        stop ??= 'its first commit'
        throw new LostRun('a dry run commits nothing')
      },
      rehearsal: { reached: (what) => void (stop ??= what), changed: () => undefined },
    },
  )
  note(changes)
  const text = why ?? (stop && `it ends before ${stop}`) ?? changes.error?.message
  return { in: data, out: Object.fromEntries(out), ...(text === undefined ? {} : { note: text }) }
}

export async function tryValues(found: Registered | undefined, name: string, port: string, values: readonly Encoded[]) {
  if (!found?.local || found.inner)
    throw new SidejobError('REFUSED', `class: expected a function of this deployment, got ${name}`, { path: ['class'] })
  const tried: Tried[] = []
  const until = Date.now() + ALL
  for (const data of values)
    tried.push(
      Date.now() < until
        ? await tryOne(found, port, data)
        : { in: data, out: {}, note: `not tried: the other values took more than ${ALL / 1_000} s` },
    )
  return tried
}
