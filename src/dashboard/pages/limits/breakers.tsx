// Hosts that are left alone because they keep failing: what calls them, how often they failed, and when one call may try.

import type { OpenBreaker } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import type { Act } from '../../page.ts'
import { Act as Button } from '../../parts/act.tsx'
import { Card, To } from '../../parts/layout.tsx'
import { Ago } from '../../parts/moment.tsx'
import { given } from '../../words/form.ts'
import { many } from '../../words/number.ts'
import { cut } from '../../words/text.ts'

export const reset: Act = {
  scope: 'admin',
  async does({ form, call }) {
    const [host, of] = [given(form, 'host'), given(form, 'of')]
    await call('DELETE', `/v1/breakers/${encodeURIComponent(host)}?of=${encodeURIComponent(of)}`)
    return { say: `${host} is called again` }
  },
}

const calls = { callbacks: 'callbacks', workers: 'runs of push workers' }

function Row({ breaker: { host, of, failures, until } }: { breaker: OpenBreaker }) {
  const { now } = useLook()
  return (
    <tr>
      <td>
        <b class="mono">{cut(host, 40)}</b>
      </td>
      <td class="fill dim">
        {of === 'callbacks' ? <To to={`/callbacks?host=${encodeURIComponent(host)}`}>{calls[of]}</To> : calls[of]}
      </td>
      <td class="num st failed">{many(failures, 'failure')} in a row</td>
      <td class="num">{until > now ? <Ago at={until} /> : 'the next call tries it'}</td>
      <td class="num">
        <Button act="reset" at="/limits" scope="admin" fields={{ host, of }} small label={`Call ${host} again now`}>
          Call again now
        </Button>
      </td>
    </tr>
  )
}

export function Breakers({ breakers }: { breakers: OpenBreaker[] }) {
  if (breakers.length === 0) return null
  return (
    <Card title="Hosts left alone" id="breakers">
      <table class="tbl">
        <caption class="vh">Hosts that keep failing</caption>
        <tbody>
          {breakers.map((breaker) => (
            <Row breaker={breaker} />
          ))}
        </tbody>
      </table>
    </Card>
  )
}
