import type { QueueView } from '../../../engine/engine.ts'
import { page } from '../../page.ts'
import { Act } from '../../parts/act.tsx'
import { Card, Head } from '../../parts/layout.tsx'
import { RangeChoice } from '../../parts/range.tsx'
import { First } from '../../parts/snippet.tsx'
import { isBuiltIn, type Queue, withPulled } from '../../words/queue.ts'
import { rangeIn } from '../../words/series.ts'
import { count, many, title } from '../../words/text.ts'
import { type Ends, QueueTable } from '../overview/tables.tsx'
import { acts } from './acts.ts'

export function PauseButton({ queue: { name, paused }, at }: { queue: QueueView; at: string }) {
  const act = paused ? 'resume' : 'pause'
  return (
    <Act act={act} at={at} scope="admin" fields={{ queue: name }} icon={paused ? 'play' : 'pause'}>
      {title(act)}
    </Act>
  )
}

export const queues = page<{ queues: Queue[]; ends: Ends }>({
  path: '/queues',
  nav: 'queues',
  every: 2_000,
  async load(asked) {
    const range = rangeIn(asked.query, asked.look.now)
    const glance = await asked.cache.glance(range.step)
    const { queues } = glance.isNew ? glance.stats : await asked.engine.stats.totals()
    const ordered = queues.toSorted((a, b) => Number(isBuiltIn(a.name)) - Number(isBuiltIn(b.name)))
    return { queues: withPulled(ordered, glance), ends: { of: glance.series.queues ?? {}, range } }
  },
  title: () => 'Queues',
  View: ({ data: { queues, ends } }) => (
    <>
      <Head
        title="Queues"
        note={`${many(queues.length, 'queue')}, ${count(queues.filter(({ paused }) => paused).length)} paused`}
      >
        <RangeChoice at="/queues" range={ends.range} />
      </Head>
      <Card>{queues.length > 0 ? <QueueTable queues={queues} ends={ends} /> : <First of="queues" />}</Card>
    </>
  ),
  acts,
})
