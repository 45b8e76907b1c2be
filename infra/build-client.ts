// Builds a table of route addresses, so that the client does not include the code of the routes.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { downloader } from '../src/facades/downloader/index.ts'
import { isSigned, type Route } from '../src/http/route.ts'
import { list, listed } from '../src/http/routes.ts'

const all = [...list, ...listed('downloader', downloader as unknown as Record<string, Route>)]
const served = all.filter((route) => !isSigned(route))
const addressOf = ({ method, path }: Route): string => `${method} ${path}`

const table: Record<string, Record<string, string>> = {}
for (const route of served) table[route.resource] = { ...table[route.resource], [route.verb]: addressOf(route) }

const isRead = ({ method }: Route): boolean => /GET|DELETE/.test(method)
const inQuery = served.filter((route) => !isRead(route) && route.query && !route.body).map(addressOf)

writeFileSync(
  join(import.meta.dirname, '../src/client/table.generated.ts'),
  `// Built by infra/build-client.ts.

export const table = ${JSON.stringify(table, null, 2)} as const

/** Addresses of calls that change something and take their input from the query. */
export const inQuery: ReadonlySet<string> = new Set(${JSON.stringify(inQuery, null, 2)})
`,
)
