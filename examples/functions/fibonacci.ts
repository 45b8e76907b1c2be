import * as z from 'zod'
import { defineWorker, port } from '../../src/index.ts'

export const fibonacci = defineWorker({
  class: 'fibonacci',
  description: 'Computes the n-th Fibonacci number with two children, which do the same. Deliberately slow.',
  out: { answer: port(z.number()) },
  async perform(job) {
    const { n } = job.args as { n: number }
    if (n <= 2) return job.write('answer', 1)
    if (Object.keys(job.children).length === 0) {
      for (const m of [n - 1, n - 2]) job.spawn(`of${m}`, { class: 'fibonacci' }, { args: { n: m } })
      return job.suspend({ waitFor: 'children' })
    }
    const answers = await job.readChildren<number>('answer')
    job.write(
      'answer',
      Object.values(answers)
        .flat()
        .reduce((sum, answer) => sum + answer, 0),
    )
  },
})
