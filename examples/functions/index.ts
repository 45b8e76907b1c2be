// Sample workers. The local stack serves them in addition to yours; a deployment does not.

import { fibonacci } from './fibonacci.ts'
import { noop } from './noop.ts'
import { countdown, fanOut, passOn } from './shapes.ts'
import { countWords, wordCount } from './word_count.ts'

export const examples = [countdown, countWords, fanOut, fibonacci, noop, passOn, wordCount]
