export const flags = ['enable_request_signal', 'global_fetch_strictly_public'] as const

/** Query strings contain signatures of file URLs and tokens of streams. */
export const observability = { enabled: true, redact_query_string: true } as const

export const versionMetadata = { binding: 'CF_VERSION_METADATA' } as const

/** From this date on, workerd has Node's modules without a flag. */
const NODE_BY_DEFAULT = '2026-08-04'
const NODE = 'nodejs_compat'

export const flagsFor = (date: string | undefined): string[] =>
  date !== undefined && date >= NODE_BY_DEFAULT ? [...flags] : [NODE, ...flags]
