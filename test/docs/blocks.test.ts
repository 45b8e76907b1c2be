import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Block, blocksOf, pages, root } from './blocks.ts'
import { claims } from './claims.ts'
import { elsewhere } from './elsewhere.ts'
import { table } from './made.ts'
import { plays } from './plays.ts'

const blocks = pages.flatMap(blocksOf)

function groupsOf({ page, kind, text }: Block): string[] {
  if (page === 'docs/functions.md' && kind === 'text') return ['made']
  if (page === 'docs/api.md' && kind === 'http') return ['made']
  if (page === 'docs/speed.md' && kind === 'text') return ['output']
  if (page === 'docs/recipes.md' && kind === 'ts') return ['run']
  const played = plays.some(
    (play) => play.page === page && Object.keys(play.blocks).some((one) => text.startsWith(one)),
  )
  const claimed = claims.some((claim) => claim.page === page && text.startsWith(claim.starts))
  const others = elsewhere.filter((one) => one.page === page && text.startsWith(one.starts)).map(({ group }) => group)
  const found = [...(played || claimed ? ['run'] : []), ...others]
  return found.length === 0 && kind === 'ts' ? ['compiled'] : found
}

test('every block of a page is run, compared, drawn, or listed with a reason, exactly once', () => {
  expect(blocks.length).toBeGreaterThan(140)
  const faults = blocks.flatMap((block) => {
    const groups = groupsOf(block)
    return groups.length === 1 ? [] : [`${block.page}:${block.line} is in ${groups.join(' and ') || 'no group'}`]
  })
  expect(faults).toEqual([])
})

test('listed blocks exist, and name existing tests', () => {
  const isThere = ({ page, starts }: { page: string; starts: string }) =>
    blocks.some((block) => block.page === page && block.text.startsWith(starts))
  expect([...elsewhere, ...claims].filter((one) => !isThere(one))).toEqual([])
  expect(elsewhere.filter(({ by }) => by && !existsSync(join(root, by)))).toEqual([])
})

test('the blocks are counted by page and group', async () => {
  const groups = ['run', 'output', 'made', 'compiled', 'drawing', 'listed']
  const counted = pages.filter((page) => page !== 'docs/speed.md')
  const rows = counted.flatMap((page) => {
    const found = blocksOf(page)
    if (found.length === 0) return []
    const kinds = Map.groupBy(found, ({ kind }) => kind)
    const counts = groups.map((group) => found.filter((block) => groupsOf(block)[0] === group).length)
    const names = [...kinds].map(([kind, { length }]) => `${length} ${kind}`).join(', ')
    return [[page, names, ...counts.map((count) => String(count || ''))]]
  })
  const rest = counted.flatMap(blocksOf)
  const all = groups.map((group) => String(rest.filter((block) => groupsOf(block)[0] === group).length))
  const text = table(['page', 'blocks', ...groups], [...rows, ['all', String(rest.length), ...all]])
  await expect(`${text}\n`).toMatchFileSnapshot('blocks.md')
})
