import { createWorker } from 'sidejob/cloudflare'
import { functions } from './jobs/index.ts'

export default createWorker({ functions })
