import type { Listed } from './openapi.ts'
import { isSigned } from './route.ts'

export function llms(routes: readonly Listed[], publicUrl: string): string {
  const ours = routes.filter((route) => !route.facade && !isSigned(route))
  const sections = [...Map.groupBy(ours, ({ resource }) => resource)].map(([resource, all]) => [
    `## ${resource}`,
    '',
    ...all.map(({ method, path, summary, scope }) => `- ${method} ${path} (${scope}): ${summary}`),
    '',
  ])
  return [
    '# sidejob',
    '',
    '> Durable jobs: queues with priorities, retries, schedules and limits; jobs with ports, state and children; workers as functions, over HTTP, or as programs that claim jobs.',
    '',
    `- Address: ${publicUrl}. Bodies and answers are JSON.`,
    '- Calls need the header `Authorization: Bearer <API key>`, unless their scope is `open`; the required scope follows each path.',
    '- With the header `Idempotency-Key`, a POST is safe to repeat.',
    '- Errors are `{ "error": { "code", "message", "path" } }`; 429 and 503 have the header `Retry-After`.',
    `- Complete description with all schemas: ${publicUrl}/openapi.json. Requests and responses of push workers: ${publicUrl}/worker.openapi.json.`,
    '- To create a job: POST /v1/jobs { "class": "count_words", "inputs": { "text": ["to be"] } } returns { "id": 1 }. GET /v1/jobs/1/why explains why the job is not running.',
    '',
    ...sections.flat(),
  ].join('\n')
}
