import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildScripts } from '../../infra/lua-build/index.ts'
import { withoutNotes, withoutTexts } from '../../infra/pack.ts'
import { limits } from '../../src/core/limits.ts'
import { jobFields, limitFields, queueFields } from '../../src/redis/keys.ts'
import type { Script } from '../../src/redis/script.ts'
import * as scripts from '../../src/redis/scripts.generated.ts'

const fields = { jobFields, queueFields, limitFields }

test('the package contains every built script unchanged, in an eighth of its size', () => {
  const built = buildScripts().scripts
  expect(Object.keys(scripts).sort()).toEqual([...built.keys()].sort())
  for (const [name, { text, places, sha }] of built)
    expect((scripts as Record<string, Script<never>>)[name]).toMatchObject({ text, places, sha })
  const whole = [...built.values()].reduce((sum, { text }) => sum + text.length, 0)
  const generated = readFileSync(join(import.meta.dirname, '../../src/redis/scripts.generated.ts'))
  expect(generated.length).toBeLessThan(whole / 8)
})

const sourceOf = (path: string): string =>
  stripTypeScriptTypes(readFileSync(join(import.meta.dirname, '../../src', path), 'utf8'))

test('limits keep their numbers, and no text of the manual', async () => {
  const text = withoutTexts(sourceOf('core/limits.ts'))
  const packed = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as { limits: typeof limits }
  expect(packed.limits).toEqual(Object.fromEntries(Object.entries(limits).map(([name, { most }]) => [name, { most }])))
})

test('fields of records keep their names and kinds, but not their notes', async () => {
  const alone = sourceOf('redis/keys.ts')
  const text = withoutNotes(alone)
  const own = text.replace(
    / from '(\.[^']+)'/g,
    (_, path) => ` from '${new URL(`../../src/redis/${path}`, import.meta.url)}'`,
  )
  const packed = (await import(`data:text/javascript,${encodeURIComponent(own)}`)) as typeof fields
  const bare = (table: Record<string, readonly [string, string, string?]>) =>
    Object.fromEntries(
      Object.entries(table).map(([name, [short, , kind]]) => [name, kind ? [short, '', kind] : [short, '']]),
    )
  expect(packed.jobFields).toEqual(bare(fields.jobFields))
  expect(packed.queueFields).toEqual(bare(fields.queueFields))
  expect(packed.limitFields).toEqual(bare(fields.limitFields))
  expect(text.length).toBeLessThan(alone.length - 4_000)
})
