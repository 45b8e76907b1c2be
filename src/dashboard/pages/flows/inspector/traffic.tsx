import type { WireView } from '../../../../engine/engine.ts'
import { Legend, Spark } from '../../../parts/spark.tsx'
import { sum } from '../../../words/counts.ts'
import { drainTime } from '../../../words/flow.ts'
import { count, many } from '../../../words/text.ts'
import { Part } from './shared.tsx'

export function Traffic({ wire }: { wire: WireView }) {
  const { in: came, out } = wire
  // Sums all minutes, because the current minute is incomplete and the last minute may be empty.
  const [inAll, outAll] = [sum(came), sum(out)]
  const time = drainTime(wire)
  return (
    <Part
      title="Last 10 minutes"
      right={
        <Legend
          of={[
            ['accent', `arrived ${count(inAll)}`],
            ['suspended', `read ${count(outAll)}`],
          ]}
        />
      }
    >
      <Spark
        values={came}
        others={out}
        tone="accent"
        label={`In the last ten minutes, ${many(inAll, 'value')} arrived and ${count(outAll)} were read`}
      />
      {time && <p class="note">Without new values, it would drain in {time}.</p>}
    </Part>
  )
}
