import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { each } from '../../functions/each.ts'
import { flow } from '../../functions/flow.ts'
import { split } from '../../functions/split.ts'
import { createClient } from '../../src/client/index.ts'
import { list } from '../../src/http/routes.ts'
import { KEY, type Visitor } from './kit.ts'
import { serve } from './served.ts'

const CLI = fileURLToPath(new URL('../../src/cli/index.ts', import.meta.url))

type Site = Awaited<ReturnType<typeof serve>>

async function withSite(use: (site: Site, visitor: Visitor) => Promise<void>) {
  const site = await serve({ workers: [flow, split, each] })
  try {
    await use(site, await site.enter(['admin']))
  } finally {
    await site.close()
  }
}

const mainOf = (html: string): string => /<main.*<\/main>/s.exec(html)![0]

const codeIn = (html: string): string =>
  /<pre tabindex="0">([^<]*)<\/pre>/
    .exec(mainOf(html))![1]!
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')

async function run(code: string, { url }: Site): Promise<void> {
  if (code.startsWith('await client.')) {
    const client = createClient({ url, key: KEY })
    await new Function('client', `return (async () => { ${code} })()`)(client)
    return
  }
  const command = code.replace(/^npx sidejob/, `"${process.execPath}" "${CLI}"`)
  const env = { ...process.env, SIDEJOB_URL: url, SIDEJOB_API_KEY: KEY, no_proxy: '*' }
  await promisify(execFile)('sh', ['-c', command], { env })
}

const rows: [path: string, row: RegExp][] = [
  ['/jobs', /href="\/ui\/jobs\/\d+"[^>]*><b>split<\/b>/],
  ['/queues', /href="\/ui\/queues\/core"/],
  ['/flows', /href="\/ui\/flows\/\d+"/],
  ['/schedules', /class="sch"/],
  ['/limits', /id="limit-stripe"/],
  ['/channels', /href="\/ui\/channels\?at=%2Fshop%2F7"/],
  ['/callbacks', /<table.*app\.example\.com/s],
]

test.each(rows)('the code on the empty page %s creates its first row', (path, row) =>
  withSite(async (site, visitor) => {
    const empty = await visitor.html(`/ui${path}`)
    expect(mainOf(empty)).toMatch(/<b>No \w+ yet\.<\/b> This page shows /)
    expect(mainOf(empty)).not.toContain('<table')
    expect(mainOf(empty)).not.toMatch(row)
    await run(codeIn(empty), site)
    await site.until(async () => row.test(mainOf(await visitor.html(`/ui${path}`))))
    expect(mainOf(await visitor.html(`/ui${path}`))).not.toContain('Create the first')
  }),
)

test('each empty page links to a section of the API reference', () =>
  withSite(async (site, visitor) => {
    const resources = new Set(list.map(({ resource }) => resource))
    for (const path of [...rows.map(([path]) => path), '/log']) {
      const [, section] = /href="\/docs#(\w+)"/.exec(mainOf(await visitor.html(`/ui${path}`)))!
      expect(resources, path).toContain(section)
    }
    expect((await site.ask('/docs')).status).toBe(200)
  }))
