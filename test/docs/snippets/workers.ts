// Tests set the variables of their Worker here.

export const env: Record<string, unknown> = {}
