// The package holds its scripts compressed: they are the same.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packedModule } from '../../infra/pack-scripts.ts'
import type { Script } from '../../src/redis/script.ts'
import * as scripts from '../../src/redis/scripts.generated.ts'

test('what is unpacked is every script as it was built, in a quarter of its size', async () => {
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
