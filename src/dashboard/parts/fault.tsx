import type { Encoded } from '../../core/codec/value.ts'
import { useWay } from '../look.ts'
import { messageOf, stackOf } from '../words/job.ts'
import { stackParts } from '../words/stack.ts'
import { count, many } from '../words/text.ts'
import { Ago, Link } from './layout.tsx'
import { linesOf } from './log.tsx'
import { Json } from './value-view.tsx'

function Stack({ stack }: { stack: string }) {
  return (
    <pre tabindex={0}>
      {stackParts(stack).map(({ isForeign, lines }) =>
        isForeign ? (
          <details>
            <summary class="link">{many(lines.length, 'library frame')}</summary>
            {`${lines.join('\n')}\n`}
          </details>
        ) : (
          `${lines.join('\n')}\n`
        ),
      )}
    </pre>
  )
}

const hasMore = (error: Encoded): boolean => linesOf(error).rest !== '' || error.length > 300

export const hasDetails = (error: Encoded): boolean => stackOf(error) !== undefined || hasMore(error)

export function Fault({ error, at, run }: { error: Encoded; at?: number; run?: number }) {
  const way = useWay()
  const stack = stackOf(error)
  return (
    <section class="fault">
      <p>
        {run !== undefined && `Run ${count(run)}`} <b>{messageOf(error)}</b>{' '}
        {at !== undefined && (
          <>
            <Ago at={at} />{' '}
            <Link to={`${way({ tab: 'log', at: new Date(at).toISOString() })}#tabs`}>
              Open the log up to this error
            </Link>
          </>
        )}
      </p>
      {stack === undefined ? (
        hasMore(error) && <Json value={error} />
      ) : (
        <>
          <Stack stack={stack} />
          <details class="foot">
            <summary class="link">As JSON</summary>
            <Json value={error} />
          </details>
        </>
      )}
    </section>
  )
}
