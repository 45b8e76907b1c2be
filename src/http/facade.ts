// A facade: the routes and manners of another system, served beside our own. The app knows none of them by name.

import type { SidejobError } from '../core/errors.ts'
import type { Route } from './route.ts'

export type Facade = {
  /** The resource that its operations belong to in the OpenAPI document. */
  name: string
  routes: Record<string, Route>
  /** How it answers a path that no route takes; nothing leaves the answer to the app, and to the next facade. */
  unknown?: (path: string, error: SidejobError) => Response | undefined
}

/**
 * Makes a facade from its table of routes.
 *
 * @example createApp({ engine, verify, publicUrl, facades: [facade('jq', jq)] })
 */
export const facade = (
  name: string,
  verbs: Record<string, unknown>,
  manners: Pick<Facade, 'unknown'> = {},
): Facade => ({
  name,
  routes: verbs as Record<string, Route>,
  ...manners,
})
