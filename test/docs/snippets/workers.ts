// The module `cloudflare:workers` for snippets that run in Node: a test sets the variables of its Worker.

export const env: Record<string, unknown> = {}
