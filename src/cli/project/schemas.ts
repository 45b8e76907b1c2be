import { schemasOf } from '../../core/schema-hash.ts'
import type { Command } from '../command.ts'

export const schemas: Command = {
  does: 'Print the schema hash of each class in this folder as JSON, for createClient({ schemas })',
  takes: ['[folder]'],
  flags: ['help'],
  async run(_, __, io, [folder = '.']) {
    const { definitionsOf } = await import('../../dev/definitions.ts')
    io.print(JSON.stringify(schemasOf((await definitionsOf(folder)).workers), null, 2))
  },
}
