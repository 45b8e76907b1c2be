// The Worker of the local stack. It serves the standard library and the examples.

import { storing, workers } from '../functions/index.ts'
import { createWorker } from '../src/cloudflare/index.ts'
import { dashboard } from '../src/dashboard/index.ts'
import { downloaderPayload } from '../src/facades/downloader/shown.ts'
import { facades } from '../src/facades/index.ts'
import { examples } from './functions/index.ts'

export { Isolate } from '../src/cloudflare/index.ts'

export default createWorker({
  functions: [...workers, ...examples],
  storing,
  facades,
  dashboard: dashboard(),
  payloads: (downloads) => ({ downloader: downloaderPayload(downloads) }),
})
