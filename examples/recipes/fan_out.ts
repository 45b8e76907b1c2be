// Creates a job for each part of a list, and combines the results.

import * as z from 'zod'
import { defineWorker, port } from '../../src/index.ts'

export const measure = defineWorker({
  class: 'measure',
  args: z.object({ word: z.string() }),
  out: { length: port(z.number()) },
  perform: (job) => job.write('length', job.args.word.length),
})

export const measureAll = defineWorker({
  class: 'measure_all',
  args: z.object({ words: z.array(z.string()) }),
  result: z.number(),
  async perform(job) {
    if (!job.get('asked')) {
      job.args.words.forEach((word, i) => {
        job.spawn(`word ${i}`, measure, { args: { word } })
      })
      job.set({ asked: true })
      return job.suspend({ waitFor: 'children' })
    }
    const lengths = await job.readChildren<number>('length')
    return Object.values(lengths)
      .flat()
      .reduce((sum, length) => sum + length, 0)
  },
})
