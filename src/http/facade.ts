// A facade: the API of another job system next to sidejob's own. The app knows none by name.

import type { SidejobError } from '../core/errors.ts'
import type { Route } from './route.ts'

export type Facade = {
  name: string
  routes: Record<string, Route>
  /** Answers an unknown path; undefined leaves it to the app or the next facade. */
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
