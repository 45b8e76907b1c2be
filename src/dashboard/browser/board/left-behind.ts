import { many } from '../../words/text.ts'
import { tell } from '../app/page.ts'
import { type Change, moveValues } from './api.ts'
import { ask } from './ask.ts'
import { idsOf } from './draft.ts'
import type { Draft, Editing } from './working.ts'

type Left = Change['orphaned'][number]

export function movesLeft({ job, wires }: Editing, draft: Draft, { node, dir, port }: Left): (() => void) | undefined {
  const from = wires.find(({ to, size }) => to.node === node && to.port === port && size > 0)
  const left = idsOf(draft.now)
  const others = wires
    .filter(({ id, to }) => left.has(id) && !(to.node === node && to.port === port))
    .map(({ id }) => id)
  if (!from || others.length === 0 || (dir === 'out' && node !== null)) return undefined

  async function move(to: string): Promise<void> {
    const { moved, error } = await moveValues(job, from!.id, to).catch(() => ({
      moved: 0,
      error: { message: 'No response: the values may or may not have been moved.' },
    }))
    tell('say', { say: error?.message ?? `${many(moved, 'value')} moved to the end of ${to}`, isError: !!error })
    tell('moved')
    tell('look')
  }

  return () =>
    ask(
      `Move the values at ${from.id}`,
      'Move',
      [{ name: 'to', label: 'To the end of', options: others }],
      ({ to = '' }) => {
        if (!others.includes(to)) return 'expected one of the listed wires'
        void move(to)
        return undefined
      },
    )
}
