// The Worker that this repository deploys. This Worker also serves the APIs of other systems.

import { storing, workers } from '../functions/index.ts'
import { createWorker } from './cloudflare/index.ts'
import { dashboard } from './dashboard/index.ts'
import { downloaderPayload } from './facades/downloader/shown.ts'
import { facades } from './facades/index.ts'

export { Isolate } from './cloudflare/index.ts'

export default createWorker({
  functions: workers,
  storing,
  facades,
  dashboard: dashboard(),
  payloads: (downloads) => ({ downloader: downloaderPayload(downloads) }),
})
