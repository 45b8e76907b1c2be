// Counts words without jobs, to compare with the demo.

import { readFileSync } from 'node:fs'

const counts = new Map()
for (const path of JSON.parse(readFileSync(0, 'utf8'))) {
  for (const word of readFileSync(path, 'utf8').toLowerCase().split(/[^\p{L}\p{N}]+/u)) {
    if (word) counts.set(word, (counts.get(word) ?? 0) + 1)
  }
}
process.stdout.write(JSON.stringify([...counts]))
