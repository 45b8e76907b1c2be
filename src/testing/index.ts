// Exports for users' tests: run a function without Redis, drain queues in a chosen order, move the clock.

export { workersOf } from '../core/loading.ts'
export type { GivenRecordedRun as RecordedRun } from '../core/recorded.ts'
export type { Performed } from '../engine/api/run-one.ts'
export { type Called, type CallOptions, call } from './call.ts'
export { createClock, type DrainOptions, drain, type Order, runInline } from './drain.ts'
export { type FakeJob, fakeJobs } from './fake.ts'
export { type RehearsalOptions, rehearse, type Verdict } from './rehearse.ts'
export { type Difference, type Replayed, replay } from './replay.ts'
export { type Ran, type Sandbox, type SandboxOptions, sandbox } from './sandbox.ts'
