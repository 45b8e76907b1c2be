import type { Encoded } from '../../core/codec/value.ts'
import { faultText } from '../../core/issues.ts'
import { itemOf } from '../../redis/item.ts'
import { type JobRecord, portsOf, redactedPathsOf } from '../../redis/record.ts'
import type { Context } from '../context.ts'
import type { WorkerDefinition, WorkerUnfit } from '../engine.ts'
import { faultIn } from '../jobs/checks.ts'

const [JOBS, PORTS, VALUES] = [100, 500, 20]
const NAMED = 10

type Row = WorkerUnfit['values'][number]
type Part = Parameters<typeof faultIn>[1]

/** If the class redacts anything, the answer must not contain the value. */
function whyNot(found: { definition: WorkerDefinition }, record: JobRecord, part: Part, value: Encoded) {
  const fault = faultIn(found, part, value)
  if (!fault) return undefined
  const isRedacted = redactedPathsOf(record).length > 0 || (found.definition.redact?.length ?? 0) > 0
  return faultText(isRedacted ? { ...fault, message: 'does not fit' } : fault)
}

export async function workerUnfitOf(
  { store }: Pick<Context, 'store'>,
  { queue, class: name, definition }: { queue: string; class: string; definition: WorkerDefinition },
): Promise<WorkerUnfit> {
  const found = { definition }
  const { jobs, cursor } = await store.list({
    mode: 'all',
    queue,
    class: name,
    status: 'queued,suspended',
    limit: JOBS,
  })
  const ends = jobs.flatMap(({ id, document }) =>
    portsOf(document, 'i')
      .filter(({ pushed, taken }) => pushed > taken)
      .map(({ port }) => ({ id, document, port })),
  )
  const looked = ends.slice(0, PORTS)
  const asked = looked.map(({ id, port }) => ({ id, dir: 'i' as const, port }))
  const peeked = asked.length === 0 ? [] : await store.peek(asked, VALUES)
  const ofArgs = jobs.flatMap(({ id, document }): Row[] => {
    const why = whyNot(found, document, 'args', document.args ?? 'null')
    return why === undefined ? [] : [{ job: id, port: null, why }]
  })
  const ofPorts = looked.flatMap(({ id, document, port }, i): Row[] =>
    (peeked[i]?.items ?? []).flatMap((item) => {
      const why = whyNot(found, document, { dir: 'in', port }, itemOf(item).data)
      return why === undefined ? [] : [{ job: id, port, why }]
    }),
  )
  const all = [...ofArgs, ...ofPorts]
  const isPart = cursor !== null || ends.length > looked.length || peeked.some((row) => (row?.more ?? 0) > 0)
  return {
    jobs: new Set(all.map(({ job }) => job)).size,
    values: all.slice(0, NAMED),
    looked: jobs.length,
    more: isPart,
  }
}
