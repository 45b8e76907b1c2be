import type { AddressInfo } from 'node:net'
import { build } from 'esbuild'
import { expect, test } from 'vitest'
import type { Worker } from '../../src/core/worker.ts'
import { program, startBrowser } from '../dashboard/browser.ts'
import { root } from './blocks.ts'
import { KEY, startSite } from './site.ts'
import { writeProject } from './snippet.ts'

const page = `import { createRoot } from 'react-dom/client'
import { createElement } from 'react'
import { Import } from './components/import.tsx'
const { id } = await (await fetch('/api/imports', {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"total":350}',
})).json()
createRoot(document.body).render(createElement(Import, { id }))`

test.skipIf(!program())('a page of React shows the progress of a job until it has completed', async () => {
  const files = writeProject('docs/web-apps.md')
  const { importRows } = (await import(files['src/jobs/import_rows.ts']!)) as { importRows: Worker }
  const site = await startSite([importRows])
  Object.assign(process.env, { SIDEJOB_URL: site.url, SIDEJOB_API_KEY: KEY })
  const { outputFiles } = await build({
    stdin: { contents: page, resolveDir: files['server.ts']!.replace(/server\.ts$/, ''), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'react',
    nodePaths: [root],
    define: { 'process.env.NODE_ENV': '"production"' },
    tsconfigRaw: {},
  })
  const { app } = await import(files['server.ts']!)
  app.get('/', (_: unknown, response: { send: (text: string) => void }) =>
    response.send('<!doctype html><body></body><script type="module" src="/app.js"></script>'),
  )
  app.get('/app.js', (_: unknown, response: { type: (name: string) => { send: (text: string) => void } }) =>
    response.type('js').send(outputFiles[0]!.text),
  )
  const server = app.listen(0)
  const browser = await startBrowser()
  try {
    const tab = await browser.newPage()
    const faults: string[] = []
    tab.on('pageerror', (error) => faults.push(String(error)))
    await tab.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
    await tab.getByText('completed').waitFor()
    expect(await tab.locator('progress').evaluate((bar: HTMLProgressElement) => [bar.value, bar.max])).toEqual([
      350, 350,
    ])
    expect(faults).toEqual([])
  } finally {
    await browser.close()
    server.close()
    await site.close()
  }
})
