import { page } from '../../page.ts'
import { Card, Head } from '../../parts/layout.tsx'
import { RangeChoice } from '../../parts/range.tsx'
import { First } from '../../parts/snippet.tsx'
import { byTrouble, isInUse, withPulled } from '../../words/queue.ts'
import { rangeIn } from '../../words/series.ts'
import { count, many } from '../../words/text.ts'
import { QueueTable } from '../overview/tables.tsx'
import { acts } from './settings.tsx'

export const queues = page({
  path: '/queues',
  nav: 'queues',
  every: 2_000,
  async load(asked) {
    const range = rangeIn(asked.query, asked.look.now)
    const glance = await asked.cache.glance(range.step)
    const { queues } = glance.isNew ? glance.stats : await asked.engine.stats.totals()
    return { queues: withPulled(queues.toSorted(byTrouble), glance), ends: { of: glance.series.queues ?? {}, range } }
  },
  View({ data: { queues, ends } }) {
    const idle = queues.filter((queue) => !isInUse(queue))
    return (
      <>
        <Head
          title="Queues"
          note={`${many(queues.length, 'queue')}, ${count(queues.filter(({ paused }) => paused).length)} paused; most failed and held jobs first`}
        >
          <RangeChoice range={ends.range} />
        </Head>
        <Card>
          {queues.length > 0 ? (
            <QueueTable queues={queues.filter(isInUse)} ends={ends} canResume />
          ) : (
            <First of="queues" />
          )}
          {idle.length > 0 && (
            <details class="foot">
              <summary>{many(idle.length, 'idle internal queue')}</summary>
              <QueueTable queues={idle} ends={ends} />
            </details>
          )}
        </Card>
      </>
    )
  },
  acts,
})
