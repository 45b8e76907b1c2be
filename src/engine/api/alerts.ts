import { type AlertState, isMuted } from '../../core/alert.ts'
import { SidejobError } from '../../core/errors.ts'
import { readObject } from '../../core/readable.ts'
import type { Context } from '../context.ts'

const MOST = 1_000

type By = { by: string; reason?: string }

export function createAlerts({ store, now }: Context) {
  const states = async () =>
    new Map(Object.entries(await store.alerts.all()).map(([key, text]) => [key, readObject<AlertState>(text) ?? {}]))

  async function save(key: string, state: AlertState) {
    if (state.alert || isMuted(state, now())) await store.alerts.set(key, JSON.stringify(state))
    else await store.alerts.remove(key)
  }

  const stateOf = async (key: string) => (await states()).get(key) ?? {}

  return {
    states,
    save,

    async open(key: string, state: AlertState) {
      if (state.muted) await save(key, state)
      else if (!(await store.addAlert(key, JSON.stringify(state)))) return stateOf(key)
      return state
    },

    async list() {
      const at = now()
      const alerts = [...(await states())].map(([key, state]) => {
        const { alert, muted } = state
        return {
          alert: key,
          isOpen: alert !== undefined,
          ...(alert && {
            rule: alert.rule,
            text: alert.text,
            since: alert.since,
            link: alert.link,
            told: alert.toldAt ?? null,
            ...(alert.acknowledged && { acknowledged: alert.acknowledged }),
          }),
          ...(muted && isMuted(state, at) && { muted }),
        }
      })
      return { alerts: alerts.sort((a, b) => (b.since ?? 0) - (a.since ?? 0)) }
    },

    /** Stops the reminders of an open alert. If `given` is absent, the reminders resume. */
    async acknowledge(key: string, given?: By) {
      const state = await stateOf(key)
      if (!state.alert) throw new SidejobError('NOT_FOUND', `alert ${key} is not open`)
      await save(key, { ...state, alert: { ...state.alert, acknowledged: given && { ...given, at: now() } } })
    },

    /** `until` is in milliseconds since 1970. */
    async mute(key: string, { until, ...given }: By & { until?: number }) {
      const known = await states()
      if (!known.has(key) && known.size >= MOST)
        throw new SidejobError('LIMITED', `expected at most ${MOST} alerts and mutes: unmute one first`)
      const muted = { ...given, at: now(), ...(until !== undefined && { until }) }
      await save(key, { ...known.get(key), muted })
    },

    async unmute(key: string) {
      const { muted, ...state } = await stateOf(key)
      if (!muted) throw new SidejobError('NOT_FOUND', `alert ${key} is not muted`)
      await save(key, state)
    },
  }
}
