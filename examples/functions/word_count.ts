import * as z from 'zod'
import { defineWorker, port, Terminal } from '../../src/index.ts'

const counts = z.record(z.string(), z.number())
type Counts = z.infer<typeof counts>

/** Maximum input of one run of the parent. */
const TAKE = { files: 100, characters: 500_000 }
/** Maximum children at a time. Merged children are deleted and replaced by new children. */
const CHILDREN = 500

function add(total: Map<string, number>, more: Iterable<readonly [string, number]>): void {
  for (const [word, n] of more) total.set(word, (total.get(word) ?? 0) + n)
}

function count(text: string): Counts {
  const found = new Map<string, number>()
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) add(found, [[word, 1]])
  return Object.fromEntries(found)
}

export const countWords = defineWorker({
  class: 'count_words',
  description: 'Counts the words of each text at its input port.',
  in: { text: port(z.string()) },
  out: { counts: port(counts) },
  async perform(job) {
    for await (const { text } of job.inputs('text')) job.write('counts', count(text))
  },
})

export const wordCount = defineWorker({
  // Allows the parent to delete children whose results are merged.
  reach: 'all',
  class: 'word_count',
  description:
    'Counts the words of each file in args.files in a separate child, and merges the results as children end.',
  in: { files: port(z.object({ name: z.string(), text: z.string() })) },
  out: { total: port(counts), merged: port(z.number()) },
  async perform(job) {
    const children = Object.entries(job.children)
    const named = (...statuses: string[]) =>
      children.filter(([, { status }]) => statuses.includes(status)).map(([name]) => name)
    const [broken] = named('failed', 'terminated')
    if (broken) throw new Terminal(`${broken} could not be counted`)

    const ended = named('completed')
    const found = Object.values(await job.readChildren('counts', ended)).flat()
    const merged = (job.get<number>('merged') ?? 0) + found.length
    if (found.length > 0) {
      const total = new Map(Object.entries(job.get<Counts>('total') ?? {}))
      for (const one of found) add(total, Object.entries(one as Counts))
      job.set({ merged, total: Object.fromEntries(total) })
      // Readers can see a default without removing it.
      job.write('merged', merged, { setDefault: true })
    }
    if (merged === (job.args as { files: number }).files) return job.write('total', job.get('total') ?? {})

    let room = CHILDREN - children.length
    if (room < TAKE.files) {
      for (const child of ended) job.op({ op: 'delete', child, force: true })
      room += ended.length
    }
    let taken = 0
    let characters = 0
    while (job.size('files') > 0 && taken < Math.min(room, TAKE.files) && characters < TAKE.characters) {
      const { name, text } = (await job.read('files'))!
      job.spawn(name, countWords, { inputs: { text: [text] } })
      taken++
      characters += text.length
    }
    return job.size('files') > 0 && taken < room ? job.again() : job.suspend()
  },
})
