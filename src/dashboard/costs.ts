// Maximum cost of each page. A test measures the costs, and the docs list them.

/** Consecutive round trips to Redis, commands per refresh, and commands of the first request of an isolate. */
type Cost = readonly [trips: number, look: number, first: number]

/**
 * By path. Measured with two limits, failed jobs, no stored graphs, and a flow without nodes. Each further limit adds
 * two commands to the first request, or three if it has a rate or waiting jobs. Each flow with nodes adds a command.
 */
export const costs: Readonly<Record<string, Cost>> = {
  '/': [2, 10, 30],
  '/jobs': [1, 14, 24],
  '/jobs/new': [2, 8, 18],
  '/jobs/:job': [2, 9, 29],
  '/jobs/:job/history': [1, 4, 9],
  '/flows': [2, 10, 15],
  '/flows/:job': [2, 14, 18],
  '/flows/:job/edit': [2, 12, 25],
  '/queues': [1, 9, 9],
  '/queues/:queue': [1, 20, 36],
  '/schedules': [2, 6, 13],
  '/limits': [1, 10, 16],
  '/groups/:id': [1, 13, 19],
  '/workers': [2, 8, 21],
  '/workers/:queue/:class': [2, 12, 30],
  '/channels': [2, 9, 13],
  '/callbacks': [1, 6, 16],
  '/files': [1, 4, 8],
  '/log': [1, 2, 6],
  '/deploys': [2, 16, 21],
  '/settings/keys': [1, 3, 7],
  '/doctor': [1, 4, 9],
  '/find': [1, 4, 8],
  '/more': [1, 1, 5],
}
