import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { JobFacts } from '../../src/engine/run/facts.ts'
import { Job } from '../../src/engine/run/job.ts'
import { Steps } from '../../src/engine/run/steps.ts'

const page = readFileSync(new URL('../../docs/job.md', import.meta.url), 'utf8')

const classes = [Job.prototype, JobFacts.prototype, Steps.prototype]
const members = new Set(['id', ...classes.flatMap(Object.getOwnPropertyNames)])

test('docs/job.md names exactly the members of job', () => {
  const rows = [...page.matchAll(/^\| (`.+?) \|/gm)].map(([, cell]) => cell!)
  const told = rows.flatMap((cell) => [...cell.matchAll(/`(?:job\.)?(\w+)/g)].map(([, name]) => name!))
  const known = [...members].filter((name) => name !== 'constructor')
  expect(known.filter((name) => !told.includes(name))).toEqual([])
  expect(told.filter((name) => !known.includes(name))).toEqual([])
})
