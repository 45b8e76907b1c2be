// The Worker of the stack on your machine, each invocation of which is held to what Cloudflare allows one.

import worker, { Isolate as Own } from '../../examples/worker.ts'
import { hold, holdEntrypoint } from './invocation.ts'

export const Isolate = holdEntrypoint(Own)

export default hold(worker)
