// A test sets the variables of its Worker.

export const env: Record<string, unknown> = {}
