import type { OpenBreaker } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import type { Act } from '../../page.ts'
import { Act as Button } from '../../parts/act.tsx'
import { Name, To } from '../../parts/layout.tsx'
import { given } from '../../words/form.ts'
import { apiPath, callbacksPath } from '../../words/paths.ts'
import { clock, hostName, many } from '../../words/text.ts'
import { Bar } from './slots.tsx'

export const reset: Act = {
  scope: 'admin',
  async does({ form, call }) {
    const [host, of] = [given(form, 'host'), given(form, 'of')]
    await call('DELETE', `${apiPath('breakers', host)}?of=${encodeURIComponent(of)}`)
    return { say: `Calls to ${hostName(host)} resume` }
  },
}

export function Shut({ of: { failures, until } }: { of: OpenBreaker }) {
  const { now, zone } = useLook()
  return (
    <span class="st failed">
      {until > now ? `not called until ${clock(until, zone)}` : 'the next call is a test'}: {many(failures, 'failure')}{' '}
      in a row
    </span>
  )
}

function Row({ breaker }: { breaker: OpenBreaker }) {
  const { host, of } = breaker
  const name = hostName(host)
  return (
    <div class="limit">
      <div class="line">
        <div class="grow">
          <Name of={name} most={40} kind="clip mono" isMain />
          <span class="sub">
            {of === 'callbacks' ? <To to={callbacksPath({ host })}>callbacks</To> : 'runs of push workers'}, built in
          </span>
        </div>
        <div>
          <Bar kind="wait" height={18} />
          <span class="sub">
            <Shut of={breaker} />
          </span>
        </div>
        <div class="q dim">not called</div>
        <div class="acts">
          <Button act="reset" at="/limits" scope="admin" fields={{ host, of }} small label={`Resume calls to ${name}`}>
            Resume calls
          </Button>
        </div>
      </div>
    </div>
  )
}

export function Breakers({ breakers }: { breakers: OpenBreaker[] }) {
  if (breakers.length === 0) return null
  return (
    <section id="breakers" aria-label="Hosts that are not called because they keep failing">
      {breakers.map((breaker) => (
        <Row breaker={breaker} />
      ))}
    </section>
  )
}
