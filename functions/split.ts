import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

function pieces(text: string, sep: string): string[] {
  if (sep === ' ') return text.trimStart().split(/\s+/)
  return sep === '' ? [...text] : text.split(sep)
}

export const split = defineFunction({
  class: 'split',
  description: 'Splits a string at each separator, and drops empty parts at the end.',
  in: { sep: port(z.string(), { default: ',' }), in: port(z.string()) },
  out: { out: port(z.array(z.string())) },
  async perform(job) {
    for await (const { sep, in: text } of job.inputs('sep', 'in')) {
      const found = pieces(text, sep)
      while (found.at(-1) === '') found.pop()
      job.write('out', found)
    }
  },
})
