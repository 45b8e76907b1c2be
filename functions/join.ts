import * as z from 'zod'
import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'
import { checkRoom } from './room.ts'

const textOf = (value: unknown, sep: string): string => {
  if (Array.isArray(value)) {
    const texts = value.map((element) => textOf(element, sep))
    const bytes = texts.reduce((sum, text) => sum + text.length, sep.length * Math.max(0, texts.length - 1))
    checkRoom({ bytes })
    return texts.join(sep)
  }
  if (value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

export const join = defineFunction({
  class: 'join',
  description: 'Joins the elements of a list into a string, with a separator between them.',
  in: { sep: port(z.string(), { default: ',' }), in: port(z.array(z.unknown())) },
  out: { out: port(z.string()) },
  async perform(job) {
    for await (const { sep, in: elements } of job.inputs('sep', 'in')) job.write('out', textOf(elements, sep))
  },
})
