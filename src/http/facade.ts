import type { SidejobError } from '../core/errors.ts'
import type { Route } from './route.ts'

export type Facade = {
  name: string
  routes: Record<string, Route>
  /** Return undefined to leave the path to the next facade or the app. */
  unknown?: (path: string, error: SidejobError) => Response | undefined
}

export const facade = (
  name: string,
  verbs: Record<string, unknown>,
  manners: Pick<Facade, 'unknown'> = {},
): Facade => ({
  name,
  routes: verbs as Record<string, Route>,
  ...manners,
})
