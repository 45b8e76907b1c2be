// Types of inputs and results of the engine.

export * from './shapes/deliveries.ts'
export * from './shapes/flows.ts'
export * from './shapes/jobs.ts'
export * from './shapes/keys.ts'
export * from './shapes/limits.ts'
export * from './shapes/queues.ts'
export * from './shapes/views.ts'
export * from './shapes/why.ts'
