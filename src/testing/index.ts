// Exports for users' tests.

export { workersOf } from '../core/loading.ts'
export type { GivenRecordedRun as RecordedRun } from '../core/recorded.ts'
export type { Performed } from '../engine/api/run-one.ts'
export { type Called, type CallOptions, call } from './call.ts'
export { createClock, type DrainOptions, drain, type Order, runInline } from './drain.ts'
export { type FakeJob, fakeJobs } from './fake.ts'
export { type RehearsalOptions, rehearse, type Verdict } from './rehearse.ts'
export { type Difference, type Replayed, replay } from './replay.ts'
export { type Ran, type Sandbox, type SandboxOptions, sandbox } from './sandbox.ts'
