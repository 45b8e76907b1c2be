// Schemas of input and output, each defined once: routes, OpenAPI, client and checks use them.
//
// A schema has two sides. Outside (z.input) is what a client writes and reads: any value, ISO times, '5m'. Inside
// (z.output) is what the engine has: closed values, milliseconds. Requests are parsed inward, answers presented outward.

export * from './schemas/claims.ts'
export * from './schemas/dashboard.ts'
export * from './schemas/flows.ts'
export * from './schemas/job-options.ts'
export * from './schemas/job-rows.ts'
export * from './schemas/job-views.ts'
export * from './schemas/keys.ts'
export * from './schemas/locks.ts'
export * from './schemas/names.ts'
export * from './schemas/past-runs.ts'
export * from './schemas/places.ts'
export * from './schemas/ports.ts'
export * from './schemas/queues.ts'
export * from './schemas/values.ts'
export * from './schemas/why.ts'
export * from './schemas/workers.ts'
