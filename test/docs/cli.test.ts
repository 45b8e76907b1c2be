import { test } from 'vitest'
import type { Option } from '../../src/cli/command.ts'
import { commands, common } from '../../src/cli/main.ts'
import { expectMade, table } from './made.ts'

const flag = ([name, { type, short, default: usual, does }]: [string, Option]): string =>
  `\`--${name}${type ? '' : ' …'}\`${short ? ` (\`-${short}\`)` : ''} ${does}${usual ? `; default \`${usual}\`` : ''}`

const about: Record<string, string> = {
  create: 'Projects',
  run: 'Jobs',
  'queues ls': 'Queues, limits, schedules and more',
  stats: 'Statistics, history and maintenance',
}

test('docs/cli.md matches the table of commands', async () => {
  const sections: [heading: string, rows: string[][]][] = []
  for (const [name, { does, takes = [], options = {} }] of Object.entries(commands)) {
    if (about[name]) sections.push([about[name], []])
    const usage = [`sidejob ${name}`, ...takes.map((one) => (one.startsWith('[') ? one : `<${one}>`))].join(' ')
    sections.at(-1)![1].push([`\`${usage}\``, does, Object.entries(options).map(flag).join('<br>')])
  }
  await expectMade('cli.md', {
    common: Object.entries(common)
      .map((one) => `- ${flag(one)}`)
      .join('\n'),
    commands: sections
      .map(([heading, rows]) => `### ${heading}\n\n${table(['command', 'does', 'options'], rows)}`)
      .join('\n\n'),
  })
})
