// docs/errors.md is generated from the table of errors, which has every code.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Code, codes } from '../../src/core/errors.ts'
import { remedies } from '../../src/core/remedies.ts'

const src = join(import.meta.dirname, '../../src')

const page = `# Errors

Every error is JSON: \`{ "error": { "code", "message", "path", "retryAfter" } }\`. Programs decide by \`code\`. The message
is for people: it states the expected and the received value. \`path\` names the field that caused the error.
\`retryAfter\`, like the header \`Retry-After\`, is the number of seconds to wait before the next attempt.

| code | status | cause | remedy |
|---|---|---|---|
${Object.entries(remedies)
  .map(([code, { means, remedy }]) => `| \`${code}\` | ${codes[code as Code]} | ${means} | ${remedy} |`)
  .join('\n')}

The client throws an \`ApiError\` with \`code\`, \`status\`, \`path\` and \`retryAfter\`. If the network fails or the status
is 503, it repeats the call with the same idempotency key, so the call takes effect once.
`

test('docs/errors.md is up to date', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/errors.md')
})

test('the table has every code of a script', () => {
  const scripts = readdirSync(join(src, 'redis/lua'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.lua'),
  )
  const used = scripts.flatMap((file) =>
    [...readFileSync(join(src, 'redis/lua', file), 'utf8').matchAll(/refuse\('([A-Z_]+)'/g)].map(([, code]) => code!),
  )
  expect(used.length).toBeGreaterThan(20)
  expect(used.filter((code) => !(code in codes))).toEqual([])
})
