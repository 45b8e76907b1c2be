import { expect, test } from 'vitest'
import { labelsText, mergedLabels } from '../../src/core/labels.ts'

test('labels that exceed the limit in bytes, but not in characters, are refused with their bytes', () => {
  const labels = labelsText({ note: 'é'.repeat(300) })
  expect(() => mergedLabels({}, labels)).toThrow('got 1 label and 611 bytes')
})
