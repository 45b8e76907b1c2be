// The arithmetic of the vendor: durations, waits between attempts, what an answer may steer, cron. Pure.
import { Cron } from 'croner'

const SECOND = 1_000
const DAY = 86_400 * SECOND
const units = { ns: 1e-6, us: 1e-3, µs: 1e-3, ms: 1, s: SECOND, m: 60 * SECOND, h: 3_600 * SECOND, d: DAY } as const

const DURATION = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+$/
const DURATION_PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)/g

/** Milliseconds of a text like `1d10h30m`, or undefined when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  if (!DURATION.test(text)) return undefined
  let ms = 0
  for (const [, amount, unit] of text.matchAll(DURATION_PART)) ms += Number(amount) * units[unit as keyof typeof units]
  return ms
}

/** The table of the vendor: 12 s, 2m28s, 30m8s, 6h7m6s, then a day. `retry` counts from 1. */
export const backoff = (retry: number) => Math.min(86_400, Math.floor(Math.exp(2.5 * retry))) * SECOND

/** When the next attempt is made, given the answer to the one that failed; `retried` counts from 0. */
export function nextAttempt(
  { retried, expression }: { retried: number; expression: string | undefined },
  answer: Record<string, string | string[] | undefined>,
  now: number,
): number {
  const steered = steeredWait(answer, now)
  if (steered !== undefined) return now + steered
  if (expression === undefined) return now + backoff(retried + 1)
  return now + Math.min(DAY, Math.max(0, compileExpression(expression)(retried) || 0))
}

const steering = ['retry-after', 'x-ratelimit-reset', 'x-ratelimit-reset-requests', 'x-ratelimit-reset-tokens']

function steeredWait(answer: Record<string, string | string[] | undefined>, now: number): number | undefined {
  const text = steering.map((name) => answer[name]).find((value) => value !== undefined)
  if (text === undefined) return undefined
  const wait = parseWait(String(text).trim(), now)
  // More than a day is not followed: the table applies.
  return wait <= DAY ? Math.max(0, wait) : undefined
}

const parseWait = (text: string, now: number): number =>
  /^\d+(\.\d+)?$/.test(text) ? Number(text) * SECOND : (parseDuration(text) ?? Date.parse(text) - now)

// ── Upstash-Retry-Delay: sums and products of numbers, `retried` and a few functions, in milliseconds ──

type Formula = (retried: number) => number

const functions: Record<string, { arity: number; apply: (...values: number[]) => number }> = {
  pow: { arity: 2, apply: Math.pow },
  min: { arity: 2, apply: Math.min },
  max: { arity: 2, apply: Math.max },
  sqrt: { arity: 1, apply: Math.sqrt },
  abs: { arity: 1, apply: Math.abs },
  exp: { arity: 1, apply: Math.exp },
  floor: { arity: 1, apply: Math.floor },
  ceil: { arity: 1, apply: Math.ceil },
  round: { arity: 1, apply: Math.round },
}

const operators: Record<string, { binds: number; apply: (a: number, b: number) => number }> = {
  '+': { binds: 1, apply: (a, b) => a + b },
  '-': { binds: 1, apply: (a, b) => a - b },
  '*': { binds: 2, apply: (a, b) => a * b },
  '/': { binds: 2, apply: (a, b) => a / b },
  '%': { binds: 2, apply: (a, b) => a % b },
}

const TOKEN = /\s*(\d+(?:\.\d+)?|\.\d+|[a-z]+|[-+*/%(),])/y

/** A function of `retried`, or an error that says what is wrong with the text. */
export function compileExpression(text: string): Formula {
  const tokens = tokenize(text)
  const formula = sum(0)
  if (tokens.length) throw new Error(`unexpected "${tokens[0]}" in "${text}"`)
  return formula

  function sum(binding: number): Formula {
    let left = term()
    for (;;) {
      const operator = operators[tokens[0] ?? '']
      if (!operator || operator.binds <= binding) return left
      tokens.shift()
      const [first, second] = [left, sum(operator.binds)]
      left = (retried) => operator.apply(first(retried), second(retried))
    }
  }

  function term(): Formula {
    const token = tokens.shift()
    if (token === undefined) throw new Error(`"${text}" ends too early`)
    if (/[\d.]/.test(token)) return () => Number(token)
    if (token === 'retried') return (retried) => retried
    if (token === '(') return closed(sum(0))
    if (token === '-') return negative(sum(2))
    return call(token)
  }

  function call(name: string): Formula {
    const known = Object.hasOwn(functions, name) ? functions[name]! : undefined
    if (!known)
      throw new Error(`"${name}" is not known in "${text}": use retried, ${Object.keys(functions).join(', ')}`)
    expect('(')
    const values = [sum(0)]
    while (values.length < known.arity) {
      expect(',')
      values.push(sum(0))
    }
    return closed((retried) => known.apply(...values.map((value) => value(retried))))
  }

  function closed(formula: Formula): Formula {
    expect(')')
    return formula
  }

  function expect(wanted: string) {
    const token = tokens.shift()
    if (token !== wanted) throw new Error(`wanted "${wanted}" in "${text}", found "${token ?? 'the end'}"`)
  }
}

const negative =
  (formula: Formula): Formula =>
  (retried) =>
    -formula(retried)

function tokenize(text: string): string[] {
  const tokens: string[] = []
  const rest = text.trimEnd()
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < rest.length) {
    const at = TOKEN.lastIndex
    const match = TOKEN.exec(rest)
    if (!match) throw new Error(`"${rest.slice(at).trim()}" is not understood in "${text}"`)
    tokens.push(match[1]!)
  }
  return tokens
}

// ── Cron ──

const ZONE = /^(?:CRON_TZ|TZ)=(\S+)\s+/

/** The first time after `now` that the cron names, in UTC or in the zone of its `CRON_TZ=` prefix. */
export function nextTick(cron: string, now: number): number | undefined {
  const timezone = ZONE.exec(cron)?.[1] ?? 'UTC'
  const pattern = new Cron(cron.replace(ZONE, ''), { timezone, mode: '5-or-6-parts' })
  return pattern.nextRun(new Date(now))?.getTime()
}
