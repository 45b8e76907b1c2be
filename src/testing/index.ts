// What users' tests import: to run a function without Redis, to drain queues in an order of choice, to move the clock.

export type { Performed } from '../engine/api/run-one.ts'
export { type Called, type CallOptions, call } from './call.ts'
export { createClock, type DrainOptions, drain, type Order, runInline } from './drain.ts'
export { type FakeJob, fakeJobs } from './fake.ts'
export { type Ran, type Sandbox, type SandboxOptions, sandbox } from './sandbox.ts'
