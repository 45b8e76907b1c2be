// Tests of what something costs in commands.

import { test } from 'vitest'
import { kind } from './index.ts'

/**
 * A test that reads how often Redis was asked what. The embedded Redis does not count its commands.
 *
 * @example counted('a look costs one command', async () => …)
 */
export const counted = test.skipIf(kind === 'embedded')
