// The page of settings is made of their two tables, and whatever a program reads of its environment stands there.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localSettings } from '../../infra/settings.ts'
import { deploymentOf } from '../../src/environment.ts'
import { settings } from '../../src/settings.ts'
import { expectMade, table } from './made.ts'

const root = join(import.meta.dirname, '../..')

const rows = (all: Record<string, { means: string; without: string }>) =>
  table(
    ['variable', 'means', 'without it'],
    Object.entries(all).map(([name, { means, without }]) => [`\`${name}\``, means, without]),
  )

const sections = <T extends { means: string; without: string }>(all: Record<string, T>, by: (one: T) => string) =>
  [...Map.groupBy(Object.entries(all), ([, one]) => by(one))]
    .map(([heading, some]) => `### ${heading}\n\n${rows(Object.fromEntries(some))}`)
    .join('\n\n')

const upper = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1)

test('docs/settings.md is what the tables of settings say', async () => {
  await expectMade('settings.md', {
    settings: sections(settings, ({ about }) => about),
    'local settings': sections(localSettings, ({ of }) => upper(of)),
  })
})

test('what is said to be required is what a deployment asks for', () => {
  const required = Object.entries(settings).filter(([, { without }]) => without.startsWith('required'))
  const asked = (() => {
    try {
      deploymentOf({})
    } catch (error) {
      return (error as Error).message
    }
  })()
  expect(asked).toContain(`not configured: ${required.map(([name]) => name).join(', ')} (`)
})

/** Of the shell, a binding, the bundler's, and one of an example. */
const others = ['PATH', 'FILES', 'NODE_ENV', 'STRIPE_KEY']

test('every variable that a program here reads is in one of the tables', () => {
  const files = ['src', 'infra', 'functions'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join(root, folder, file)),
  )
  const read = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\benv\.([A-Z][A-Z0-9_]+)\b/g)].map(([, name]) => name!),
  )
  expect(read.length).toBeGreaterThan(50)
  const known = [...Object.keys(settings), ...Object.keys(localSettings), ...others]
  expect([...new Set(read)].filter((name) => !known.includes(name))).toEqual([])
})
