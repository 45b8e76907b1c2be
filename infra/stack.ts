import { join } from 'node:path'
import { type StackOptions as AllOptions, startStack } from '../src/dev/stack.ts'

export { noteOf, type Stack, type StackNote } from '../src/dev/stack.ts'

export type StackOptions = Omit<AllOptions, 'config'> & { config?: string }

const root = join(import.meta.dirname, '..')

export const startLocalStack = ({ config, ...options }: StackOptions) =>
  startStack({
    ...(config ? { config } : { config: join(root, 'wrangler.toml'), entry: join(root, 'examples/worker.ts') }),
    ...options,
  })
