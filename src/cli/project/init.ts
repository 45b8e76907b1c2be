import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { type Command, yes } from '../command.ts'
import { diff, planOf } from './init/plan.ts'

export const init: Command = {
  does: 'Add sidejob to the Worker in this folder; show the changes and ask before writing them',
  takes: ['[folder]'],
  flags: ['json', 'help'],
  options: { mount: { default: '/_sidejob', does: 'path below which sidejob serves its routes' }, yes },
  async run(_client, { mount, yes: really }, { show, print, note, json, confirm }, [folder = '.']) {
    const root = resolve(folder)
    const { changes, advice, install } = planOf(root, String(mount))
    if (json && !really)
      return show({ changes: changes.map(({ path, before }) => ({ path, isNew: before === undefined })), advice })
    for (const change of changes) {
      print(`${change.before === undefined ? 'new' : 'changed'}  ${relative(root, change.path)}`)
      for (const line of diff(change)) print(`  ${line}`)
    }
    if (changes.length === 0) print('Nothing to add: this Worker already has sidejob')
    else if (!really && !(await confirm('Write this?'))) {
      note('Nothing was written. To write it, use --yes')
      return
    }
    for (const { path, after } of changes) {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, after)
    }
    for (const line of advice) note(line)
    note(`Next: ${install} && npx sidejob dev`)
  },
}
