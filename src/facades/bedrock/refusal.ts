// Clients depend on Bedrock's exact codes and texts.

import { SidejobError } from '../../core/errors.ts'

export class Refusal extends SidejobError {
  readonly number: number

  constructor(number: number, text: string) {
    super('BAD_REQUEST', text)
    this.number = number
  }
}

export const refusals = {
  missing: (name: string) => new Refusal(402, `Missing ${name}`),
  malformed: (name: string) => new Refusal(402, `Malformed ${name}`),
  badData: () => new Refusal(402, 'Data is not a valid JSON Object'),
  badPriority: () => new Refusal(402, 'Invalid priority value'),
  badJson: () => new Refusal(401, 'Invalid JSON'),
  noJob: () => new Refusal(404, 'No job with this jobID'),
  noParent: () => new Refusal(404, 'parentJobID does not exist'),
  otherParent: () =>
    new Refusal(404, 'Trying to create a child that already exists, but it is tied to a different parent'),
  parentState: () => new Refusal(405, 'Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED'),
} as const

const ours: Partial<Record<SidejobError['code'], { number: number; text?: string }>> = {
  UNAUTHENTICATED: { number: 401, text: 'Unauthorized' },
  FORBIDDEN: { number: 403, text: 'Forbidden' },
  NOT_FOUND: { number: 404, text: 'No job with this jobID' },
  WRONG_STATUS: { number: 405 },
  LOST: { number: 405, text: 'This job has been delivered again since' },
  INTERNAL: { number: 500, text: 'Unhandled Exception' },
  UNAVAILABLE: { number: 502, text: 'Query failed' },
}

export const inBedrock = (error: SidejobError): { number: number; text: string } => {
  if (error instanceof Refusal) return { number: error.number, text: error.message }
  // Bedrock calls the args `data`.
  const [part] = error.code === 'REFUSED' ? (error.path ?? []) : []
  if (part === 'args' || part === 'result') return { number: 402, text: error.message.replace(part, 'data') }
  const known = ours[error.code]
  return { number: known?.number ?? error.status, text: known?.text ?? error.message }
}
