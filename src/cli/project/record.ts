import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { Client } from '../../client/index.ts'
import { type Command, UsageError } from '../command.ts'

type Recorded = Awaited<ReturnType<Client['recorded']['get']>>

const importOf = (from: string, to: string): string => {
  const path = relative(dirname(from), to).split(sep).join('/')
  return path.startsWith('.') ? path : `./${path}`
}

const testOf = ({ id, class: name, run }: Recorded, entry: string): string =>
  [
    `// Written by \`sidejob record ${id}\`.`,
    '',
    "import { type RecordedRun, replay, workersOf } from 'sidejob/testing'",
    "import { expect, test } from 'vitest'",
    '',
    `const recorded: RecordedRun = ${JSON.stringify(run, null, 2)}`,
    '',
    `const workers = await workersOf(() => import(${JSON.stringify(entry)}))`,
    '',
    `test(${JSON.stringify(`the code does what job ${id} (${name}) did`)}, async () => {`,
    "  expect(await replay(workers, recorded)).toEqual({ is: 'same' })",
    '})',
    '',
  ].join('\n')

export const record: Command = {
  does: 'Write a Vitest file that replays the last run of a job whose class has history: { values: true }',
  takes: ['job', '[file]'],
  options: { folder: { default: '.', does: 'folder of the project' } },
  async run(client, given, { tell }, [job, path]) {
    const { entryOf } = await import('../../dev/definitions.ts')
    const folder = resolve(String(given.folder))
    const entry = entryOf(folder)
    const found = await client.recorded.get(job!)
    if (!found.run) throw new Error(`job ${found.id} cannot be replayed: ${found.fault}`)
    const file = path === undefined ? join(folder, 'test', `job-${found.id}.test.ts`) : resolve(path)
    if (existsSync(file)) throw new UsageError(`${file} already exists: remove it, or choose another file`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, testOf(found, importOf(file, entry)))
    const shown = relative(process.cwd(), file)
    tell({ job: found.id, file }, `Wrote ${shown}. Run it: npx vitest run ${shown}`)
  },
}
