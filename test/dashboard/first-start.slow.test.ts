import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { claimPort } from '../../src/dev/ports.ts'
import { program, startBrowser } from './browser.ts'

const ROOT = join(import.meta.dirname, '../..')

function freshCopy(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sidejob-fresh-'))
  const archive = execFileSync('git', ['archive', 'HEAD'], { cwd: ROOT, maxBuffer: 1 << 28 })
  execFileSync('tar', ['x', '-C', folder], { input: archive })
  return folder
}

test.skipIf(!program())('npm ci, npm start, two clicks: the demo has ended', { timeout: 300_000 }, async () => {
  const folder = freshCopy()
  const port = String(await claimPort(0, { setting: '' }))
  const browser = await startBrowser()
  const began = performance.now()
  execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--prefer-offline'], { cwd: folder, stdio: 'pipe' })
  const installed = performance.now()
  const npm = spawn('npm', ['start'], {
    cwd: folder,
    env: { ...process.env, PORT: port },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    let said = ''
    npm.stdout.on('data', (chunk) => (said += chunk))
    while (!/^ready on/m.test(said)) {
      if (npm.exitCode !== null) throw new Error(`it has ended: ${said}`)
      await sleep(20)
    }
    const link = /^Dashboard +(\S+)/m.exec(said)![1]!
    const started = performance.now()
    const page = await browser.newPage()
    await page.goto(link)
    await page.getByRole('button', { name: /^Log in as/ }).click()
    await page.getByRole('button', { name: 'Run the demo' }).click()
    await page.getByText(/25 jobs of the demo have ended, 0 remain/).waitFor({ timeout: 120_000 })
    const [all, install, start] = [performance.now() - began, installed - began, started - installed]
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
    console.log(
      `${seconds(all)}: npm ci ${seconds(install)}, npm start ${seconds(start)}, demo ${seconds(all - install - start)}`,
    )
    await page.getByRole('link', { name: 'See its jobs' }).click()
    const completed = page.locator('main tbody').getByText('completed')
    await expect.poll(() => completed.count(), { timeout: 10_000 }).toBeGreaterThan(0)
  } finally {
    npm.kill('SIGTERM')
    await new Promise((resolve) => npm.once('close', resolve))
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  }
})
