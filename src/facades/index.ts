import { facade } from '../http/facade.ts'
import { bedrock } from './bedrock/index.ts'
import { downloader, wrongMethod } from './downloader/index.ts'
import { jq } from './jq/index.ts'

export const facades = [
  facade('bedrock', bedrock),
  facade('jq', jq),
  facade('downloader', downloader, { unknown: wrongMethod }),
]
