import { createWorker } from 'sidejob/cloudflare'
import { dashboard } from 'sidejob/dashboard'
import { functions } from './jobs/index.ts'

export default createWorker({ functions, dashboard: dashboard() })
