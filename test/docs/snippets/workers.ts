export const env: Record<string, unknown> = {}
