// Follows README.md and docs/start.md like a new user: with only the commands and code that they show.

import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { blocksOf, root } from '../../docs/blocks.ts'
import { freePort, must, start } from './kit.ts'

vi.setConfig({ testTimeout: 1_200_000 })

let scratch: string
const clone = () => join(scratch, 'sidejob')
const project = () => join(scratch, 'my-jobs')

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'sidejob-first-hour-'))
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  })
  for (const file of new Set(files.split('\0').filter(Boolean)))
    cpSync(join(root, file), join(clone(), file), { recursive: true })
})
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

type Step = { command: string; prints: string[] }

function stepsOf(block: string): Step[] {
  const steps: Step[] = []
  for (const line of block.split('\n').filter(Boolean)) {
    if (line.startsWith('# ')) steps.at(-1)!.prints.push(line.slice(2))
    else steps.push({ command: line.replace(/\s{2,}#.*$/, ''), prints: [] })
  }
  return steps
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

const pattern = (line: string, port: number) =>
  new RegExp(`^${line.replaceAll('8787', String(port)).split('…').map(escaped).join('.*')}$`, 'm')

async function follow(page: string, until: string): Promise<{ commands: number; checks: number }> {
  const port = await freePort()
  const last = readFileSync(join(root, page), 'utf8').split('\n').indexOf(until)
  const env = { PORT: String(port), npm_config_cache: join(tmpdir(), 'sidejob-npm-cache') }
  const done = { commands: 0, checks: 0 }
  let folder = clone()
  let dev: ReturnType<typeof start> | undefined
  try {
    for (const { kind, text, line } of blocksOf(page).filter((block) => block.line < last)) {
      const [, file] = /^\/\/ (src\/\S+)\n/.exec(text) ?? []
      if (kind === 'ts' && file) {
        const from = dev!.out.length
        mkdirSync(dirname(join(project(), file)), { recursive: true })
        writeFileSync(join(project(), file), text)
        if (file.endsWith('index.ts')) await dev!.prints(/reloaded in \d+ ms/, from)
      }
      if (kind !== 'sh') continue
      for (const { command, prints } of stepsOf(text)) {
        done.commands++
        if (command === 'npx sidejob dev') {
          dev = start(folder, 'npx sidejob dev', env)
          await dev.prints(/^Dashboard {2}\S+\/ui\/login\?once=\S+ .*\n$/m)
          continue
        }
        const moved = /^cd (\S+)$/.exec(command)
        if (moved) {
          folder = join(folder, moved[1]!)
          continue
        }
        const began = performance.now()
        const out = await must(folder, command, env)
        console.log(`${((performance.now() - began) / 1_000).toFixed(1)} s  ${command}`)
        for (const expected of prints) expect(out, `${page}:${line}: ${command}`).toMatch(pattern(expected, port))
        done.checks += prints.length
      }
    }
    return done
  } finally {
    await dev?.close()
  }
}

test('README.md, followed in an empty folder: a project, its first jobs, a decision, the dashboard', async () => {
  expect(await follow('README.md', '## How fast')).toEqual({ commands: 12, checks: 4 })
  const shown = blocksOf('README.md').find(({ text }) => text.includes("class: 'double'"))!.text
  expect(readFileSync(join(project(), 'src/jobs/double.ts'), 'utf8')).toBe(shown)
  rmSync(project(), { recursive: true })
})

test('docs/start.md, followed in an empty folder: the first function, retry, wait and schedule', async () => {
  expect(await follow('docs/start.md', '## Deploy')).toEqual({ commands: 22, checks: 14 })
  await must(project(), 'npm run types')
})
