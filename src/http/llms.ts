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
    '> Durable jobs: queues with priorities, retries, schedules and limits; jobs with ports, state and children; workers as functions, over HTTP, or that ask for work.',
    '',
    `- Address: ${publicUrl}. Bodies and answers are JSON.`,
    '- Each call needs the header `Authorization: Bearer <API key>`; the required scope follows each path.',
    '- A header `Idempotency-Key` makes asking twice safe.',
    '- Errors are `{ "error": { "code", "message", "path" } }`; 429 and 503 say in `Retry-After` when to ask again.',
    `- The whole description, with every shape: ${publicUrl}/openapi.json. Calls and answers of push workers: ${publicUrl}/worker.openapi.json.`,
    '- A job: POST /v1/jobs { "class": "count_words", "inputs": { "text": ["to be"] } } answers { "id": 1 }; GET /v1/jobs/1/why returns the reason why it does not run.',
    '',
    ...sections.flat(),
  ].join('\n')
}
