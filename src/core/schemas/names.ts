import * as z from 'zod'
import { bytesOf } from '../bytes.ts'
import type { Code } from '../errors.ts'
import { isAlias, isId, isPortName, statuses } from '../job.ts'
import { isLabelName, isLarge, labelsText } from '../labels.ts'
import { limits } from '../limits.ts'
import { atMost } from './at-most.ts'
import { closed } from './values.ts'

const CONTROL = /\p{Cc}/u

export const isText = (text: string, most = 255): boolean =>
  text.length > 0 && (text.length * 3 <= most || bytesOf(text) <= most) && !CONTROL.test(text) && text.isWellFormed()

export const named = (what: string, fits: (text: string) => boolean) =>
  z.string().refine(fits, `expected ${what}`).describe(what)

const TEXT = '1 to 255 bytes of text without control characters'

export const queueName = named(`a queue name: ${TEXT}, ":" or "/"`, (text) => isText(text) && !/[:/]/.test(text))
const plain = (what: string) => named(`${what}${TEXT}`, (text) => isText(text))
export const className = plain('a class name: ')
export const childName = plain('a name: ')
const LEVELS = limits.channelLevels.most
export const channelName = named(
  `a channel name: ${TEXT}, with at most ${LEVELS} parts between slashes`,
  (text) => isText(text) && text.split('/').filter(Boolean).length <= LEVELS,
)
export const label = plain('')
export const processName = plain('a process name: ')
const CODE_VERSION = /^[\w.+-]{1,40}$/

export const codeVersion = named('a version: 1 to 40 of a-z, A-Z, 0-9, ".", "_", "+" and "-"', (text) =>
  CODE_VERSION.test(text),
)
export const alias = named(
  'an alias: at most 255 characters, beginning with a letter, without control characters',
  isAlias,
)
export const portName = named('a port name: at most 100 characters from a-z, A-Z, 0-9 and _', isPortName)
const anyPort = named('a port name (at most 100 characters from a-z, A-Z, 0-9 and _), or "*"', (text) =>
  text === '*' ? true : isPortName(text),
)

const fewPorts = atMost(limits.ports.most, 'ports')
export const byPort = <Value extends z.ZodType>(value: Value) => z.record(portName, value).refine(...fewPorts)
export const byAnyPort = <Value extends z.ZodType>(value: Value) => z.record(anyPort, value).refine(...fewPorts)

const labelName = named(
  'a label name: at most 40 characters from a-z, A-Z, 0-9, "_", "." and "-", beginning with a letter or "_"',
  isLabelName,
)
const LABELS = 'labels to search by, such as { "customer": "7" }; not encrypted'
export const labelsFilter = z.record(labelName, label).refine(...atMost(limits.labels.most, 'labels'))
export const classLabels = labelsFilter
  .refine((given) => !isLarge(labelsText(given)), `expected at most ${limits.labelsBytes.most} bytes as JSON`)
  .describe(LABELS)
export const labels = classLabels.transform(labelsText).describe(LABELS)

export const ofClass = { queue: queueName.optional(), class: className.optional() }

/** Conditions of every list of jobs. */
export const jobMatch = {
  ...ofClass,
  group: label.optional(),
  tag: label.optional(),
}

const isHash = (text: string): boolean => /^[0-9a-f]{16}$/.test(text)
export const schemaHash = named('a schema hash: 16 hexadecimal digits', isHash)
export const builtAgainst = schemaHash
  .optional()
  .describe('hash of the class schema that the caller was built against; see docs/changing-code.md')

export const dir = z.enum(['in', 'out'])

export const jobId = z.int().min(1)
const ofQueue = { queue: z.string(), class: z.string() }
export const jobHead = { id: jobId, ...ofQueue }
export const ofJob = { job: jobId, ...ofQueue }
export const parentRef = z.object({ id: jobId, name: z.string() }).nullable()

export const errorKind = named('the id of a kind of error: 16 hexadecimal digits', isHash)

const isRef = (text: string) => isId(text) || isAlias(text)

const JOB = 'expected a job: its id (a whole number from 1) or an alias'

export const ref = z.union([jobId, z.string().refine(isRef, JOB)], JOB).transform(String)

export const runNumber = named('a run number: 1 or more', (text) => /^[1-9]\d{0,8}$/.test(text))

export const pathRef = z.string().refine(isRef, {
  error: (issue) =>
    `there is no job ${JSON.stringify(issue.input)}: an id is a whole number from 1; an alias begins with a letter`,
  params: { code: 'NOT_FOUND' satisfies Code },
})

const noFile = { error: 'there is no such file', params: { code: 'NOT_FOUND' satisfies Code } }

export const fileName = z.string().refine((text) => /^[\w-]{14}$/.test(text), noFile)
export const fileFolder = z.string().refine((text) => /^[\w-]{3}$/.test(text), noFile)

export const status = z.enum(statuses)

// Limits the work of one script.
export const MAX_VALUES = 10_000
export const values = z.array(closed).max(MAX_VALUES)
export const channelNames = z.array(channelName).max(1_000)

export const callbackState = z.enum(['PENDING', 'IN_PROGRESS', 'DELIVERED', 'FAILED'])
export type CallbackState = z.output<typeof callbackState>
