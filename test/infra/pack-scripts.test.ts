// The package holds its scripts compressed, and keys without notes: they are the same.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packedModule, withoutNotes } from '../../infra/pack-scripts.ts'
import { jobFields, limitFields, queueFields } from '../../src/redis/keys.ts'
import type { Script } from '../../src/redis/script.ts'
import * as scripts from '../../src/redis/scripts.generated.ts'

const fields = { jobFields, queueFields, limitFields }

test('unpacked scripts equal the built ones, from a quarter of their size', async () => {
  const built: Record<string, Script<never>> = { ...scripts }
  const text = packedModule(Object.values(built))
  const folder = mkdtempSync(join(tmpdir(), 'sidejob-scripts-'))
  try {
    writeFileSync(join(folder, 'scripts.mjs'), text)
    const unpacked = (await import(/* @vite-ignore */ join(folder, 'scripts.mjs'))) as typeof built
    expect(Object.keys(unpacked).sort()).toEqual(Object.keys(built).sort())
    for (const [name, script] of Object.entries(built)) expect({ ...unpacked[name] }).toEqual(script)
    const whole = Object.values(built).reduce((sum, script) => sum + script.text.length, 0)
    expect(text.length).toBeLessThan(whole / 4)
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('fields of records keep their names and kinds, and nothing that only people read', async () => {
  const source = readFileSync(join(import.meta.dirname, '../../src/redis/keys.ts'), 'utf8')
  const alone = stripTypeScriptTypes(source)
  const text = withoutNotes(alone)
  const packed = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as typeof fields
  const bare = (table: Record<string, readonly [string, string, string?]>) =>
    Object.fromEntries(
      Object.entries(table).map(([name, [short, , kind]]) => [name, kind ? [short, '', kind] : [short, '']]),
    )
  expect(packed.jobFields).toEqual(bare(fields.jobFields))
  expect(packed.queueFields).toEqual(bare(fields.queueFields))
  expect(packed.limitFields).toEqual(bare(fields.limitFields))
  expect(text.length).toBeLessThan(alone.length - 4_000)
})
