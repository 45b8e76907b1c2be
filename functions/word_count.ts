import { z } from 'zod'
import { defineWorker, port } from '../src/index.ts'

const counts = z.record(z.string(), z.number())
type Counts = z.infer<typeof counts>

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []

function count(text: string): Counts {
  const found = new Map<string, number>()
  for (const word of wordsOf(text)) found.set(word, (found.get(word) ?? 0) + 1)
  return Object.fromEntries(found)
}

function add(total: Map<string, number>, more: Counts): void {
  for (const [word, n] of Object.entries(more)) total.set(word, (total.get(word) ?? 0) + n)
}

export const countWords = defineWorker({
  class: 'count_words',
  description: 'Counts the words of each text that comes in.',
  in: { text: port(z.string()) },
  out: { counts: port(counts) },
  async perform(job) {
    for await (const { text } of job.inputs('text')) job.write('counts', count(text))
  },
})

export const wordCount = defineWorker({
  class: 'word_count',
  description: 'Has every file that comes in counted by a child of its own, and merges what they find as they end.',
  in: {
    files: port(z.object({ name: z.string(), text: z.string() })),
    expected: port(z.number()),
  },
  out: { total: port(counts) },
  async perform(job) {
    while (job.size('files') > 0) {
      const file = await job.read('files')
      if (file) job.spawn(file.name, countWords, { inputs: { text: [file.text] } })
    }
    const found = Object.values(await job.readChildren('counts')).flat()
    const total = new Map(Object.entries(job.get<Counts>('total') ?? {}))
    for (const one of found) add(total, one)
    const merged = (job.get<number>('merged') ?? 0) + found.length
    const expected = (await job.read('expected')) ?? job.get<number>('expected')
    job.set({ merged, total: Object.fromEntries(total), ...(expected === undefined ? {} : { expected }) })
    if (merged !== expected) return job.suspend()
    job.write('total', Object.fromEntries(total))
  },
})
