import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Code, codes, errorBody, SidejobError } from '../../src/core/errors.ts'
import { remedies } from '../../src/core/remedies.ts'
import { errors } from '../../src/http/docs.ts'

const src = join(import.meta.dirname, '../../src')

const page = `# Errors

<!-- keywords: error codes, status codes, 400, 401, 404, 409, 413, 422, 429, 503, 507 -->

Every error is JSON: \`{ "error": { "code", "message", "path", "retryAfter", "doc_url" } }\`. Programs should check
\`code\`. The message is for people: it states the expected and the received value. \`path\` names the field that caused
the error. \`retryAfter\`, like the header \`Retry-After\`, is the number of seconds to wait before the next attempt.
\`doc_url\` is the address of a page of the deployment that explains the code (\`GET /docs/errors\`, \`system.errors\`).

| code | status | cause | remedy |
|---|---|---|---|
${Object.entries(remedies)
  .map(
    ([code, { means, remedy }]) =>
      `| <a id="${code}"></a>\`${code}\` | ${codes[code as Code]} | ${means} | ${remedy} |`,
  )
  .join('\n')}

The client throws an \`ApiError\` with \`code\`, \`status\`, \`path\`, \`retryAfter\` and \`docUrl\`. If the network fails or
the status is 503, the client repeats the call with the same idempotency key, so the call takes effect once.
`

test('docs/errors.md is up to date', async () => {
  await expect(page).toMatchFileSnapshot('../../docs/errors.md')
})

test('the doc_url of each error leads to an anchor of the page, here and in the deployment', async () => {
  const markdown = readFileSync(join(import.meta.dirname, '../../docs/errors.md'), 'utf8')
  const html = await (await errors()).text()
  for (const code of Object.keys(codes) as Code[]) {
    const { doc_url } = errorBody(new SidejobError(code, 'no'), 'https://jobs.example.com/_sidejob').error
    expect(doc_url).toBe(`https://jobs.example.com/_sidejob/docs/errors#${code}`)
    for (const page of [markdown, html]) expect(page).toContain(`id="${code}"`)
  }
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
