import { afterAll, beforeAll, expect, test } from 'vitest'
import { limits } from '../../src/core/limits.ts'
import { startBedrock } from '../facades/bedrock.ts'
import { startDownloads } from '../facades/downloader/kit.ts'
import { type Kit, startKit } from '../kit/index.ts'

let kit: Kit
beforeAll(async () => {
  kit = await startKit({ hold: true })
})
afterAll(() => kit.close())

test('RequeueJobs accepts 1,000 ids, and refuses 1,001 without any change', async () => {
  const { create, json, get, state } = await startBedrock(kit)
  const job = await create({ name: 'taken' })
  await get({ name: 'taken' })
  const ids = (n: number) => [job, ...Array.from({ length: n - 1 }, (_, i) => 1_000_000 + i)].join(',')
  const most = limits.requeued.most
  expect(await json('RequeueJobs', { jobIDs: ids(most + 1) })).toMatchObject({
    status: `402 Expected at most ${most} jobIDs, got ${most + 1}`,
  })
  expect(await state(job)).toBe('RUNNING')
  expect(most).toBe(1_000)
})

test('an address of a file is signed for at most seven days', async () => {
  const downloads = await startDownloads()
  const ask = (length: string) => downloads.ask('GET', `/v1/files/AAAAAAAAAAAAAA?for=${encodeURIComponent(length)}`)
  const refused = await ask('8 days')
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('expected more than 0 and at most 7 days, got '),
  ])
  expect((await ask('7 days')).status).toBe(404)
  await downloads.close()
})
