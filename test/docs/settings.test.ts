import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { localSettings } from '../../infra/settings.ts'
import { deploymentOf } from '../../src/environment.ts'
import { settings } from '../../src/settings.ts'
import { blockAt } from './blocks.ts'
import { expectMade, table } from './made.ts'

const root = join(import.meta.dirname, '../..')

const rows = (all: Record<string, { means: string; without: string }>) =>
  table(
    ['variable', 'means', 'default'],
    Object.entries(all).map(([name, { means, without }]) => [`\`${name}\``, means, without]),
  )

const sections = (groups: [string, Record<string, { means: string; without: string }>][]) =>
  groups.map(([heading, some]) => `### ${heading}\n\n${rows(some)}`).join('\n\n')

const byTopic = Map.groupBy(Object.entries(settings), ([, { about }]) => about)
const local = Object.assign({}, ...Object.values(localSettings))

test('docs/settings.md matches the tables of settings', async () => {
  await expectMade('settings.md', {
    settings: sections([...byTopic].map(([topic, some]) => [topic, Object.fromEntries(some)])),
    'local settings': sections(Object.entries(localSettings)),
  })
})

test('a deployment without settings asks for exactly the required settings', () => {
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

const others = ['PATH', 'INIT_CWD', 'FILES', 'HISTORY', 'NODE_ENV', 'STRIPE_KEY']

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
  const known = [...Object.keys(settings), ...Object.keys(local), ...others]
  expect([...new Set(read)].filter((name) => !known.includes(name))).toEqual([])
})

test('docs/deploy.md gives Terraform and GitHub existing variables, and all required ones', () => {
  const [hcl, yaml] = [
    blockAt('docs/deploy.md', 'provider "cloudflare"').text,
    blockAt('docs/deploy.md', 'on: { push').text,
  ]
  const given = [.../module "sidejob" \{\n([\s\S]*?)^\}/m.exec(hcl)![1]!.matchAll(/^ {2}(\w+) /gm)].map(
    ([, name]) => name!,
  )
  const variables = readFileSync(join(root, 'infra/terraform/variables.tf'), 'utf8')
  const known = [...variables.matchAll(/^variable "(\w+)" \{\n([\s\S]*?)^\}/gm)]
  expect(given.filter((name) => name !== 'source' && !known.some(([, one]) => one === name))).toEqual([])
  const required = known.filter(([, , body]) => !/^ {2}default\b/m.test(body!)).map(([, name]) => name!)
  expect(required.filter((name) => !given.includes(name))).toEqual([])
  const names = [...yaml.matchAll(/^ {10}(\w+): /gm)].map(([, name]) => name!)
  expect(names.length).toBeGreaterThan(8)
  const read = { ...settings, ...local }
  expect(names.filter((name) => !(name in read) && !name.startsWith('CLOUDFLARE_'))).toEqual([])
  const scripts = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts
  const run = [...yaml.matchAll(/npm (?:run )?(\w+)/g)].map(([, name]) => name!).filter((name) => name !== 'ci')
  expect(run.filter((name) => !(name in scripts))).toEqual([])
})
