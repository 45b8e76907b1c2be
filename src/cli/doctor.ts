// sidejob doctor: whether everything in Redis is as it must be.

import type { Client } from '../client/index.ts'
import type { Command } from './command.ts'

const wentBack = ({ noticedAt, lost }: { noticedAt: number; lost: { from: number; to: number } }): string =>
  `Redis had gone back to older data when it was looked at on ${new Date(noticedAt).toISOString()}: ` +
  `jobs ${lost.from} to ${lost.to} are lost, and their ids are not given again`

export const doctor: Command = {
  does: 'looks at every job for what is not as it must be; exit code 1 when something is',
  options: {},
  async run(client, _, { print, note }) {
    let [jobs, faults] = [0, 0]
    for (let cursor: string | null = ''; cursor !== null; ) {
      const slice: Awaited<ReturnType<Client['doctor']['examine']>> = await client.doctor.examine(
        cursor ? { cursor } : {},
      )
      for (const { who, what } of slice.faults) print(`${who}\t${what}`)
      jobs += slice.jobs
      faults += slice.faults.length
      cursor = slice.cursor
    }
    const { restored } = await client.system.health()
    if (restored) note(wentBack(restored))
    note(`${jobs} jobs, ${faults === 0 ? 'everything is as it must be' : `${faults} faults`}`)
    return faults === 0 ? 0 : 1
  },
}
