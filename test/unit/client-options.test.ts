import { expect, test } from 'vitest'
import { createClient } from '../../src/client/index.ts'

test.each([
  [{ url: 'http://127.0.0.1:8787', key: undefined }, 'createClient: key: expected a string, got undefined'],
  [{ url: undefined, key: 'dev_1' }, 'createClient: url: expected a string, got undefined'],
])('a client from a variable that is not set is refused at once: %j', (options, message) => {
  expect(() => createClient(options as never)).toThrow(message)
})
