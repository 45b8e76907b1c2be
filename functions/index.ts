// The workers of this deployment: add yours to the list.

import { fibonacci } from './fibonacci.ts'
import { noop } from './noop.ts'
import { countWords, wordCount } from './word_count.ts'

export const workers = [countWords, fibonacci, noop, wordCount]
