import type { Client } from '../client/index.ts'
import { type Command, everyPage, type Io, UsageError } from './command.ts'

const wentBack = ({ noticedAt, lost }: { noticedAt: number; lost: { from: number; to: number } }): string =>
  `Redis was restored from older data; noticed on ${new Date(noticedAt).toISOString()}: ` +
  `jobs ${lost.from} to ${lost.to} are lost, and their ids are not reused`

async function look(client: Client, { row }: Io, withRemedy: boolean) {
  let [jobs, faults] = [0, 0]
  for await (const slice of everyPage((at) => client.doctor.examine(at))) {
    for (const fault of slice.faults) row(fault, `${fault.who}\t${fault.what}${withRemedy ? `\t${fault.remedy}` : ''}`)
    jobs += slice.jobs
    faults += slice.faults.length
  }
  return { jobs, faults }
}

async function repairAll(client: Client, { row, tell }: Io): Promise<number> {
  let [repaired, left] = [0, 0]
  for await (const slice of everyPage((at) => client.doctor.repair(at))) {
    for (const one of slice.repaired)
      row({ ...one, repaired: true }, `repaired\t${one.who}\t${one.what}\t${one.remedy}`)
    for (const one of slice.left) row({ ...one, repaired: false }, `left\t${one.who}\t${one.what}`)
    repaired += slice.repaired.length
    left += slice.left.length
  }
  tell({ repaired, left }, `${repaired} repaired, ${left} left`)
  return left
}

export const doctor: Command = {
  does: 'Check the data of every job; exit code 1 if there is a fault',
  options: {
    repair: { type: 'boolean', does: 'show how each fault would be repaired; with --yes, repair the faults' },
    yes: { type: 'boolean', short: 'y', does: 'repair the faults; requires --repair' },
  },
  async run(client, { repair, yes }, io) {
    if (yes && !repair) throw new UsageError('--yes requires --repair')
    const { jobs, faults } = await look(client, io, Boolean(repair))
    const { restored } = await client.system.health()
    if (restored) io.tell({ restored }, wentBack(restored))
    io.tell({ jobs, faults }, `${jobs} jobs, ${faults === 0 ? 'no faults' : `${faults} faults`}`)
    if (faults === 0) return 0
    if (!yes) return 1
    return (await repairAll(client, io)) === 0 ? 0 : 1
  },
}
