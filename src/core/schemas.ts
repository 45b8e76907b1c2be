// Schemas of input and output, for routes, OpenAPI, client and checks. Outside (z.input) are the clients' forms: any
// value, ISO times, '5m'. Inside (z.output) are the engine's: encoded values, milliseconds. Requests are parsed
// inward, answers presented outward.

export * from './schemas/claims.ts'
export * from './schemas/dashboard.ts'
export * from './schemas/flows.ts'
export * from './schemas/history.ts'
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
