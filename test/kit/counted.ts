import { test } from 'vitest'
import { kind } from './index.ts'

/** The embedded Redis does not count commands. */
export const counted = test.skipIf(kind === 'embedded')
