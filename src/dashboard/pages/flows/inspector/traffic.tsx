import type { WireView } from '../../../../engine/engine.ts'
import { Legend } from '../../../parts/spark.tsx'
import { sum } from '../../../words/counts.ts'
import { drainTime } from '../../../words/flow.ts'
import { count, many } from '../../../words/text.ts'

const [WIDTH, HEIGHT, FLOOR] = [300, 50, 46] as const

export function Traffic({ wire }: { wire: WireView }) {
  const { in: came, out } = wire
  const most = Math.max(1, ...came, ...out)
  const points = (list: readonly number[]) =>
    list
      .map((n, i) => `${((WIDTH * i) / (list.length - 1)).toFixed(1)} ${(FLOOR - (n / most) * (FLOOR - 7)).toFixed(1)}`)
      .join('L')
  // Sums all minutes, because the current minute is incomplete and the one before may be empty.
  const [inAll, outAll] = [sum(came, (n) => n), sum(out, (n) => n)]
  const said = `In the last ten minutes, ${many(inAll, 'value')} arrived, ${count(outAll)} read`
  return (
    <section>
      <div class="row">
        <h3>Last 10 minutes</h3>
        <span class="grow" />
        <Legend
          of={[
            ['accent', `arrived ${count(inAll)}`],
            ['suspended', `read ${count(outAll)}`],
          ]}
        />
      </div>
      <svg
        width="100%"
        height={HEIGHT}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={said}
      >
        <path class="ln1 s-line" d={`M0 ${FLOOR}H${WIDTH}`} />
        <path class="f-accent area" d={`M${points(came)}L${WIDTH} ${FLOOR}L0 ${FLOOR}Z`} />
        <path class="ln s-accent" d={`M${points(came)}`} />
        <path class="ln s-suspended" d={`M${points(out)}`} />
      </svg>
      <Drains wire={wire} />
    </section>
  )
}

function Drains({ wire }: { wire: WireView }) {
  const time = drainTime(wire)
  return time ? <p class="note">Without new values, it would drain in {time}.</p> : null
}
