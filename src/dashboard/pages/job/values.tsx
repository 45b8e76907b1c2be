import type { Child } from 'hono/jsx'
import type { Encoded } from '../../../core/codec/value.ts'
import { Empty } from '../../parts/layout.tsx'
import { Json } from '../../parts/value-view.tsx'

type ValuesProps = { args: Encoded | null; result?: Encoded | null; none?: string; href?: string; children?: Child }

export const Values = ({
  args,
  result,
  none = 'No result: the run returned none, or a client took the result.',
  href,
  children,
}: ValuesProps) => (
  <div class="pair">
    <section aria-label="Args">
      <h3>Args</h3>
      {args === null ? <Empty>No args.</Empty> : <Json value={args} />}
    </section>
    {result !== undefined && (
      <section aria-label="Result">
        <h3>Result</h3>
        {result === null ? <Empty>{none}</Empty> : <Json value={result} href={href} />}
        {children}
      </section>
    )}
  </div>
)
