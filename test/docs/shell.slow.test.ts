import { expect, test } from 'vitest'
import { type Play, pathOf, played } from './play.ts'
import { plays } from './plays.ts'

const isMissing = ({ needs = [] }: Play) => [...needs, 'curl', 'jq'].filter((program) => !pathOf(program)).join(', ')

test.each(plays.map((play) => [play.page, Object.keys(play.blocks)[0]!, play] as const))(
  'the shell snippet of %s, from `%s` on, runs and prints the shown output',
  async (_page, _start, play) => {
    const missing = isMissing(play)
    if (missing) return console.warn(`skipped: ${missing} is not on this machine`)
    expect(await played(play)).toEqual([])
  },
  // Go compiles its standard library for the first snippet.
  120_000,
)
