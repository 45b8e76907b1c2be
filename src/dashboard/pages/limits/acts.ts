import { missing } from '../../../core/errors.ts'
import type { LimitView } from '../../../engine/engine.ts'
import type { Act, ActAsked } from '../../page.ts'
import { given } from '../../words/form.ts'
import { boundFields, boundsIn, kindOfLimit } from '../../words/limit.ts'
import { apiPath, limitPath } from '../../words/paths.ts'
import { many } from '../../words/text.ts'

const restored = (was: LimitView): Record<string, string> => ({
  act: 'set',
  restores: 'yes',
  key: was.key,
  ...boundFields(was),
})

const before = ({ engine }: ActAsked, key: string): Promise<LimitView | undefined> =>
  engine.limits.get(key).catch(missing)

const pausing = (paused: boolean): Act => ({
  scope: 'admin',
  async does({ form, call }) {
    const key = given(form, 'key')
    await call('PUT', apiPath('limits', key), { paused })
    return {
      say: paused ? `Limit ${key} paused: no new runs start` : `Limit ${key} resumed`,
      undo: { act: paused ? 'resume' : 'pause', key },
    }
  },
})

export const acts = {
  set: {
    scope: 'admin',
    async does(asked) {
      const { form, call } = asked
      const key = given(form, 'key')
      const bounds = boundsIn(form)
      const was = await before(asked, key)
      const limit = await call<LimitView>('PUT', apiPath('limits', key), bounds)
      const done = was ? (form.has('restores') ? 'restored' : 'changed') : 'created'
      return {
        say: `Limit ${key} ${done}: ${kindOfLimit(limit)}`,
        to: limitPath(key),
        undo: was ? restored(was) : { act: 'remove', key, sure: 'yes' },
      }
    },
  },

  pause: pausing(true),
  resume: pausing(false),

  remove: {
    scope: 'admin',
    async confirm(asked) {
      const key = given(asked.form, 'key')
      const limit = await before(asked, key)
      return {
        title: `Remove limit ${key}?`,
        text: [
          `${many(limit?.waiting ?? 0, 'job is', 'jobs are')} waiting for it, and would start as soon as lanes are free.`,
        ],
        verb: 'Remove it',
      }
    },
    async does({ form, call }) {
      const key = given(form, 'key')
      await call('DELETE', apiPath('limits', key))
      return { say: `Limit ${key} removed`, to: '/limits' }
    },
  },
} satisfies Record<string, Act>
