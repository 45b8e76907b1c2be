import { port } from '../src/index.ts'
import { defineFunction } from './library.ts'

export const placeholder = defineFunction({
  class: 'placeholder',
  description:
    'Reserves a node of a flow for a class that you choose later. It does nothing, and values stay in its ports.',
  in: { '*': port() },
  out: { '*': port() },
  perform() {},
})
