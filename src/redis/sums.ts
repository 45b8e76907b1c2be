// Adds up the cost of a call (core/budget.ts). It uses the scripts' table of verbs, so that no verb is missing.

import { add, type Part, type Sum } from '../core/budget.ts'
import { mapValues } from '../core/map-values.ts'
import { calls, type Kind, runFields, verbs } from './ops.ts'
import { isBig, PIECE } from './packed-jobs.ts'

type Reading = { words: readonly string[]; at: number; sum: Sum }

const next = (reading: Reading): string => reading.words[reading.at++] ?? ''

function begin(words: readonly string[]): Reading {
  const sum: Sum = new Map()
  add(
    sum,
    'bytes',
    words.reduce((bytes, word) => bytes + word.length, 0),
  )
  return { words, at: 0, sum }
}

const skip = (reading: Reading, n: number): void => {
  reading.at += n
}

const nextCount = (reading: Reading): number => Number(next(reading)) || 0

function value(reading: Reading): void {
  if (isBig(next(reading))) add(reading.sum, 'large', 1)
}

function list(reading: Reading, part: Part, size = 1): number {
  const n = nextCount(reading)
  add(reading.sum, part, n)
  skip(reading, n * size)
  return n
}

const options: Record<string, (reading: Reading) => void> = {
  parent(reading) {
    add(reading.sum, 'parents', 1)
    skip(reading, 2)
  },
  unique(reading) {
    add(reading.sum, 'keys', 1)
    skip(reading, 3)
  },
  debounce: (reading) => skip(reading, 1),
  joining: () => undefined,
  alias(reading) {
    add(reading.sum, 'aliases', 1)
    skip(reading, 1)
  },
  input(reading) {
    add(reading.sum, 'filled', 1)
    skip(reading, 1)
    list(reading, 'values')
  },
  value(reading) {
    skip(reading, 1)
    value(reading)
  },
  limit(reading) {
    add(reading.sum, 'limits', 1)
    skip(reading, 5)
  },
  listen(reading) {
    skip(reading, 2)
    list(reading, 'channels')
  },
}

/** The first words of a new job are its queue, class, `known`, `at`, `wait`, priority, and its record as JSON. */
const HEAD = 7

/** In a record, a port is a field such as `"i:in":"0,0"`. */
const portsIn = (record: string): number => record.match(/"[io]:/g)?.length ?? 0

function newJob(reading: Reading): { ports: number; packed?: number } {
  skip(reading, HEAD - 1)
  const ports = portsIn(next(reading))
  const n = nextCount(reading)
  let packed: number | undefined
  for (let i = 0; i < n; i++) {
    const word = next(reading)
    if (word === 'packed') packed = list(reading, 'names')
    else options[word]?.(reading)
  }
  return { ports, packed }
}

export function sumOfJobs(words: readonly string[]): Sum {
  const reading = begin(words)
  const { sum } = reading
  const groups = nextCount(reading)
  for (let i = 0; i < groups; i++) {
    const { ports, packed } = newJob(reading)
    const n = nextCount(reading)
    add(sum, packed === undefined ? 'jobs' : 'packed', n)
    if (packed === undefined) add(sum, 'names', ports * n)
    skip(reading, packed === undefined ? n : Math.ceil(n / PIECE) * (packed > 0 ? 2 : 1))
  }
  return sum
}

const readers: Record<Kind, (reading: Reading) => void> = {
  text: next,
  value,
  values(reading) {
    const n = nextCount(reading)
    for (let i = 0; i < n; i++) value(reading)
  },
  flag: next,
  number: next,
  moment: next,
  some: next,
  maybe(reading) {
    next(reading)
    value(reading)
  },
  list: (reading) => list(reading, 'names'),
  counts: (reading) => list(reading, 'names', 2),
  target: next,
  port: (reading) => skip(reading, 3),
  ports: (reading) => list(reading, 'targets', 3),
  side: next,
  specs(reading) {
    const n = nextCount(reading)
    add(reading.sum, 'ports', n)
    for (let i = 0; i < n; i++) {
      next(reading)
      readers.maybe(reading)
      list(reading, 'channels')
    }
  },
  writing: next,
  limits: (reading) => list(reading, 'limits', 5),
  field: next,
  fields: (reading) => list(reading, 'names', 2),
  job(reading) {
    const { ports } = newJob(reading)
    add(reading.sum, 'jobs', 1)
    add(reading.sum, 'names', ports)
    value(reading)
  },
}

const partOf: Record<string, Part> = {
  spawn: 'spawns',
  publish: 'messages',
  step: 'steps',
  log: 'entries',
  write: 'writes',
  connect: 'steps',
  wire: 'steps',
  channels: 'acts',
  adopt: 'acts',
  disown: 'acts',
  run: 'acts',
  terminate: 'acts',
  delete: 'acts',
  alias: 'acts',
  unalias: 'acts',
  tag: 'acts',
}

const listOf: Record<string, Part> = {
  channels: 'channels',
  listen: 'channels',
  write: 'values',
  bulk: 'acts',
  requeue_all: 'acts',
}

const kindsOf = mapValues<Record<string, Kind>, Kind[]>({ ...verbs, ...calls, ...runFields }, Object.values)

/** A message also reaches the ancestors of its channel. */
const levelsOf = (channel: string): number => channel.split('/').filter(Boolean).length + 1

export function sumOfOps(words: readonly string[]): Sum {
  const reading = begin(words)
  const { sum } = reading
  while (reading.at < words.length) {
    const verb = next(reading)
    add(sum, partOf[verb] ?? 'ops', 1)
    if (verb === 'publish') add(sum, 'levels', levelsOf(words[reading.at]!))
    for (const kind of kindsOf[verb] ?? [])
      if (kind === 'list' && listOf[verb]) list(reading, listOf[verb])
      else readers[kind](reading)
  }
  return sum
}
