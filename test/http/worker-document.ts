import * as z from 'zod'
import { workerDocument } from '../../src/http/worker-document.ts'

export const document = JSON.parse(JSON.stringify(workerDocument('https://jobs.example.com'))) as ReturnType<
  typeof workerDocument
>
export const { post } = document.paths['/']

function checkOf(schema: object): z.ZodType {
  const whole = { ...schema, $defs: document.components.schemas }
  return z.fromJSONSchema(JSON.parse(JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/')))
}

export const sent = checkOf(post.requestBody.content['application/json']!.schema)
export const answered = checkOf(post.responses[200].content['application/json']!.schema)
