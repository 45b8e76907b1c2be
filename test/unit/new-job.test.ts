import { expect, test } from 'vitest'
import { newJobs } from '../../src/engine/jobs/new-job.ts'
import type { Registered } from '../../src/engine/jobs/registry.ts'

const found: Registered = { definition: { in: { left: {} }, out: {} } }

test.each(['constructor', 'toString', 'hasOwnProperty'])(
  'a port that the class does not define is refused, even if its name is %s',
  (port) => {
    const ask = () => newJobs([{ queue: 'default', class: 'sum', inputs: { [port]: ['1'] } }], () => found, 0)
    expect(ask).toThrow(`sum has no input port "${port}"`)
    expect(newJobs([{ queue: 'default', class: 'sum', inputs: { left: ['1'] } }], () => found, 0)).toHaveLength(1)
  },
)
