import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { costOf } from '../../redis/commandstats.ts'
import { adder, command, startRehearsal } from './rehearsal.ts'

const JOBS = 1_000

const root = resolve(import.meta.dirname, '../../..')
const VITEST = join(root, 'node_modules/vitest/vitest.mjs')
const config = `export default { resolve: { alias: [
  { find: /^sidejob$/, replacement: '${root}/src/index.ts' },
  { find: 'sidejob/testing', replacement: '${root}/src/testing/index.ts' },
  { find: 'sidejob/dashboard', replacement: '${root}/src/dashboard/index.ts' },
  { find: 'sidejob/cloudflare', replacement: '${root}/src/cloudflare/node.ts' },
] } }
`

test('a rehearsal of 1,000 jobs takes less than a minute and two commands for each job, and changes nothing', async () => {
  const stage = await startRehearsal(JOBS)
  try {
    const before = await stage.digest()
    const began = performance.now()
    let report = ''
    const { calls, billed, commands } = await costOf(stage.kit, async () => {
      report = (await stage.run()).printed
    })
    const took = performance.now() - began
    console.info({ jobs: JOBS, seconds: Math.round(took / 100) / 10, calls, billed, ...commands })
    expect(report).toMatch(/\n1000 jobs: 600 continue, 400 would change\n$/)
    expect(took).toBeLessThan(60_000)
    expect(billed).toBeLessThanOrEqual(2 * JOBS)
    expect(calls).toBeLessThanOrEqual(JOBS / 10)
    expect(await stage.digest()).toBe(before)
  } finally {
    await stage.close()
  }
}, 300_000)

type Stage = Awaited<ReturnType<typeof startRehearsal>>

async function add(stage: Stage, n: number): Promise<number> {
  const id = await stage.kit.make('adder', { args: JSON.stringify({ n }) })
  await stage.kit.rest(id, 'completed')
  return id
}

function fromTemplate(stage: Stage): string {
  const folder = join(stage.project.dir, 'template')
  cpSync(join(root, 'templates/worker'), folder, { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'vitest.config.ts'), config)
  writeFileSync(join(folder, 'src/jobs/adder.ts'), adder('sidejob', 'one + job.args.n'))
  const index = readFileSync(join(folder, 'src/jobs/index.ts'), 'utf8')
  const added = index.replace('functions = [', 'functions = [adder, ')
  writeFileSync(join(folder, 'src/jobs/index.ts'), `import { adder } from './adder.ts'\n${added}`)
  return folder
}

test('replays recorded runs, and writes a test of one in a project from the template', async () => {
  const stage = await startRehearsal(10)
  try {
    const [small, big] = [await add(stage, 1), await add(stage, 7)]
    const before = await stage.digest()
    const { exit, printed } = await stage.run('--recorded')
    expect(printed).toBe(
      `adder: 2 jobs\n  1 differs in result (such as job ${big})\n  1 does the same (such as job ${small})\n2 jobs: 1 continues, 1 would change\n`,
    )
    expect(exit).toBe(1)
    expect(await stage.digest()).toBe(before)

    const folder = fromTemplate(stage)
    const file = join(folder, 'test', `job-${big}.test.ts`)
    expect(await stage.record(String(big), '--folder', folder)).toMatchObject({ exit: 0 })
    expect(await stage.record(String(big), '--folder', folder)).toMatchObject({
      exit: 2,
      noted: expect.stringContaining('already exists: remove it, or choose another file'),
    })
    const tested = () => command([VITEST, 'run', file], { CI: 'true' }, folder)
    expect((await tested()).printed).toMatch(/Tests .*1 passed/)
    writeFileSync(join(folder, 'src/jobs/adder.ts'), adder('sidejob', '0'))
    expect((await tested()).exit).toBe(1)
    const [waiting] = (await stage.kit.engine.jobs.list({ class: 'class_0', limit: 1 })).jobs
    expect(await stage.record(String(waiting!.id), '--folder', folder)).toMatchObject({
      exit: 1,
      noted: expect.stringContaining('the values of its last run were not recorded'),
    })
  } finally {
    await stage.close()
  }
}, 180_000)
