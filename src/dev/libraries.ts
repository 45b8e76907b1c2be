// Uses the project's tools, so that the project chooses their versions.

import { createRequire } from 'node:module'
import { join } from 'node:path'

/** @throws if the project has no wrangler. */
export function librariesOf(root: string) {
  const require = createRequire(join(root, 'package.json'))
  const requireAsWrangler = createRequire(wranglerOf(require))
  return {
    get wrangler() {
      return require('wrangler') as typeof import('wrangler')
    },
    get miniflare() {
      return requireAsWrangler('miniflare') as typeof import('miniflare')
    },
    get esbuild() {
      return requireAsWrangler('esbuild') as typeof import('esbuild')
    },
    get workerd() {
      return (requireAsWrangler('workerd') as { default: string }).default
    },
  }
}

function wranglerOf(require: NodeJS.Require): string {
  try {
    return require.resolve('wrangler/package.json')
  } catch {
    throw new Error('sidejob needs wrangler in the project: npm install --save-dev wrangler')
  }
}
