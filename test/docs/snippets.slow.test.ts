import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { placed, writeSnippets } from './snippet-files.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, '.sidejob/snippets')

const tsconfig = {
  extends: '../../tsconfig.json',
  compilerOptions: {
    rootDir: '../..',
    paths: {
      sidejob: ['../../src/index.ts'],
      'sidejob/cloudflare': ['../../src/cloudflare/index.ts'],
      'sidejob/client': ['../../src/client/index.ts'],
      'sidejob/testing': ['../../src/testing/index.ts'],
      'sidejob/dashboard': ['../../src/dashboard/index.ts'],
      'sidejob/alerts': ['../../src/alerts/index.ts'],
      'sidejob/facades': ['../../src/facades/index.ts'],
      'sidejob/history': ['../../src/history/sqlite.ts'],
      'sidejob/dev': ['../../src/dev/index.ts'],
      'sidejob/functions': ['../../functions/core.ts'],
      'sidejob/functions/*': ['../../functions/*.ts'],
    },
  },
  include: ['./**/*.ts', './**/*.tsx', '../../src/cloudflare.d.ts'],
}

function compile(): string {
  try {
    const tsc = join(root, 'node_modules/typescript/bin/tsc')
    // Several threads would check the same types several times.
    execFileSync(process.execPath, [tsc, '-p', folder, '--pretty', 'false', '--singleThreaded'], {
      cwd: folder,
      encoding: 'utf8',
    })
    return ''
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}

// The compiler takes a few seconds, and longer on a loaded machine.
test('every snippet of TypeScript compiles', () => {
  rmSync(folder, { recursive: true, force: true })
  expect(writeSnippets(folder, ['assumed.d.ts', 'cloudflare.d.ts', 'stripe.d.ts'])).toBeGreaterThan(60)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
  expect(placed(compile())).toEqual([])
}, 180_000)
