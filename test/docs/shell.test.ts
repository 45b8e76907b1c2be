// What the pages show of a shell runs as it stands there, with the real command line, and prints what they say.

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { played } from './play.ts'
import { plays } from './plays.ts'

const may = test.skipIf(spawnSync('bash', ['-c', 'curl --version && jq --version']).status !== 0)

may.each(plays.map((play) => [play.page, Object.keys(play.blocks)[0]!, play] as const))(
  'what %s shows of a shell, from `%s` on, runs and prints what the page says',
  async (_page, _start, play) => {
    expect(await played(play)).toEqual([])
  },
)
