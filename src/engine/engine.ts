// What sidejob can do, as one list of verbs: the doors call these, nothing else.

export * from './shapes/deliveries.ts'
export * from './shapes/engine.ts'
export * from './shapes/flows.ts'
export * from './shapes/jobs.ts'
export * from './shapes/keys.ts'
export * from './shapes/limits.ts'
export * from './shapes/queues.ts'
export * from './shapes/views.ts'
export * from './shapes/why.ts'
