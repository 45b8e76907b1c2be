import { expect, test } from 'vitest'
import { kind } from '../../kit/index.ts'
import { downloads } from './downloads.ts'

test.skipIf(kind === 'embedded')(
  'downloads of real files, with the Worker killed once',
  async () => {
    const rows = await downloads.run({ files: 120, aggregations: 10, kills: 1 })
    expect(rows.filter(({ met }) => !met)).toEqual([])
  },
  120_000,
)
