// The page of errors is made from their table, and every code that is thrown stands there.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Code, codes } from '../../src/core/errors.ts'
import { remedies } from '../../src/core/remedies.ts'

const src = join(import.meta.dirname, '../../src')

const page = `# Errors

Every error is JSON: \`{ "error": { "code", "message", "path", "retryAfter" } }\`. The code is one of these, and decides what a
program does; the message is for people, and says what was expected and what came. \`path\` names the field at fault,
\`retryAfter\` the seconds after which trying again makes sense, as the header \`Retry-After\` does. The tables are
\`src/core/errors.ts\` and \`src/core/remedies.ts\`.

| code | status | what it says | what to do |
|---|---|---|---|
${Object.entries(remedies)
  .map(([code, { means, remedy }]) => `| \`${code}\` | ${codes[code as Code]} | ${means} | ${remedy} |`)
  .join('\n')}

The client throws an \`ApiError\` with \`code\`, \`status\`, \`path\` and \`retryAfter\`. It asks again by itself when the network fails
or the answer is 503, under the same idempotency key, so that it happens once.
`

test('docs/errors.md is what the tables of errors say', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/errors.md')
})

test('every code that a script refuses with is in the table', () => {
  const scripts = readdirSync(join(src, 'redis/lua'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.lua'),
  )
  const used = scripts.flatMap((file) =>
    [...readFileSync(join(src, 'redis/lua', file), 'utf8').matchAll(/refuse\('([A-Z_]+)'/g)].map(([, code]) => code!),
  )
  expect(used.length).toBeGreaterThan(20)
  expect(used.filter((code) => !(code in codes))).toEqual([])
})
