import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, createClient } from '../../src/client/index.ts'
import { batches, type Text } from './texts.ts'

export const patientClient = (url: string, key: string): Client => createClient({ url, key, attempts: 15 })

export type Counted = { id: number; total: Record<string, number> }

/** Milliseconds: twice the time until a lost run is repeated. */
const PATIENCE = 240_000

export async function countWords(
  client: Client,
  texts: Text[],
  show: (done: number) => void,
  made: (id: number) => void = () => {},
): Promise<Counted> {
  // Smaller numbers run first, so the parent merges results before its children count more words.
  const options = { class: 'word_count', priority: -1, createdBy: 'demo' }
  const { id } = await client.jobs.enqueue({ ...options, args: { files: texts.length } })
  made(id)
  for (const values of batches(texts)) await client.ports.write(id, 'in', 'files', { values })
  for (let news = Date.now(), known = 0; ; ) {
    const { status, error } = await client.jobs.get(id)
    const done = Number((await client.ports.look(id, 'out', 'merged')).default ?? 0)
    show(done)
    if (status === 'completed') break
    if (status === 'failed' || status === 'terminated')
      throw new Error(`job ${id} has ${status}: ${JSON.stringify(error)}`)
    if (done > known) [news, known] = [Date.now(), done]
    if (Date.now() - news > PATIENCE)
      throw new Error(`job ${id} is ${status} and has made no progress for ${PATIENCE / 1000} s`)
    await sleep(100)
  }
  const { values } = await client.ports.read(id, 'out', 'total')
  return { id, total: values[0]!.data as Record<string, number> }
}
