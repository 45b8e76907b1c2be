// sidejob doctor: whether everything in Redis is as it must be.

import type { Client } from '../client/index.ts'
import { type Command, type Io, UsageError } from './command.ts'

const wentBack = ({ noticedAt, lost }: { noticedAt: number; lost: { from: number; to: number } }): string =>
  `Redis had gone back to older data when it was looked at on ${new Date(noticedAt).toISOString()}: ` +
  `jobs ${lost.from} to ${lost.to} are lost, and their ids are not given again`

type Slice = Awaited<ReturnType<Client['doctor']['examine']>>
type Repair = Awaited<ReturnType<Client['doctor']['repair']>>
type Page<S extends { cursor: string | null }> = (query: { cursor?: string }) => Promise<S>

/** All slices, one after the other. */
async function* slices<S extends { cursor: string | null }>(page: Page<S>): AsyncGenerator<S> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const slice: S = await page(cursor ? { cursor } : {})
    yield slice
    cursor = slice.cursor
  }
}

async function look(client: Client, { print }: Io, withRemedy: boolean): Promise<{ jobs: number; faults: number }> {
  let [jobs, faults] = [0, 0]
  for await (const slice of slices<Slice>((query) => client.doctor.examine(query))) {
    for (const { who, what, remedy } of slice.faults) print(`${who}\t${what}${withRemedy ? `\t${remedy}` : ''}`)
    jobs += slice.jobs
    faults += slice.faults.length
  }
  return { jobs, faults }
}

async function mend(client: Client, { print, note }: Io): Promise<number> {
  let [repaired, left] = [0, 0]
  for await (const slice of slices<Repair>((query) => client.doctor.repair(query))) {
    for (const { who, what, remedy } of slice.repaired) print(`repaired\t${who}\t${what}\t${remedy}`)
    for (const { who, what } of slice.left) print(`left\t${who}\t${what}`)
    repaired += slice.repaired.length
    left += slice.left.length
  }
  note(`${repaired} repaired, ${left} left`)
  return left
}

export const doctor: Command = {
  does: 'looks at every job for what is not as it must be; exit code 1 when something is',
  options: {
    repair: { type: 'boolean', does: 'says what would put it right; with --yes it is done' },
    yes: { type: 'boolean', short: 'y', does: 'repairs, without asking' },
  },
  async run(client, { repair, yes }, io) {
    if (yes && !repair) throw new UsageError('--yes is said with --repair')
    const { jobs, faults } = await look(client, io, Boolean(repair))
    const { restored } = await client.system.health()
    if (restored) io.note(wentBack(restored))
    io.note(`${jobs} jobs, ${faults === 0 ? 'everything is as it must be' : `${faults} faults`}`)
    if (faults === 0) return 0
    if (!yes) return 1
    return (await mend(client, io)) === 0 ? 0 : 1
  },
}
