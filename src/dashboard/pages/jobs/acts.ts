// What can be done to many jobs at once: to those selected, one call each, or by one bulk job to all that fit.

import { SidejobError } from '../../../core/errors.ts'
import { isId } from '../../../core/job.ts'
import type { Scope } from '../../../engine/engine.ts'
import type { Act, ActAsked, Confirm, Done } from '../../page.ts'
import { stretchIn, tokensOf } from '../../words/filter.ts'
import { count, many } from '../../words/number.ts'
import { title } from '../../words/text.ts'
import { filterFor } from './filter.tsx'

/** So many are done one by one. */
const MOST = 50
/** So many calls are under way at once. */
const AT_ONCE = 5

const verbs = ['retry', 'run', 'terminate', 'delete'] as const
type Verb = (typeof verbs)[number]

const lost: Partial<Record<Verb, string>> = {
  terminate: 'They end for good, after their shutdown runs; what waits at their ports is not read any more.',
  delete: 'They are gone with all below them: state, ports, results and logs. This cannot be taken back.',
}

function verbOf(form: FormData): Verb {
  const given = String(form.get('do') ?? '')
  const verb = verbs.find((one) => one === given)
  if (!verb) throw new SidejobError('BAD_REQUEST', `do: expected one of ${verbs.join(', ')}, got "${given}"`)
  return verb
}

const isAll = (form: FormData): boolean => form.get('fit') === 'all'

function chosenOf(form: FormData): string[] {
  const chosen = form.getAll('sel').map(String)
  if (chosen.length === 0 || chosen.length > MOST || !chosen.every(isId))
    throw new SidejobError('BAD_REQUEST', `sel: expected 1 to ${MOST} ids of jobs, got ${count(chosen.length)}`)
  return chosen
}

/** What ends something is asked about; many retries are, too. */
function confirm({ form, query }: ActAsked): Confirm {
  const verb = verbOf(form)
  const fit = tokensOf(query).map(({ name, value }) => `${name} ${value}`)
  const what = isAll(form)
    ? `all jobs with ${fit.length > 0 ? fit.join(', ') : 'any status, in every queue'}`
    : many(chosenOf(form).length, 'job')
  return {
    title: `${title(verb)} ${what}?`,
    text: lost[verb] ? [lost[verb]] : ['Jobs that cannot be are passed over.'],
    verb: isAll(form) ? `${title(verb)} all` : `${title(verb)} ${count(chosenOf(form).length)}`,
    ...(verb === 'delete' ? { type: isAll(form) ? 'all' : String(chosenOf(form).length) } : {}),
  }
}

/** How one job is asked for what. */
const calls: Record<Verb, (id: string) => Parameters<ActAsked['call']>> = {
  retry: (id) => ['POST', `/v1/jobs/${id}/retry`, {}],
  run: (id) => ['POST', `/v1/jobs/${id}/run`, {}],
  terminate: (id) => ['POST', `/v1/jobs/${id}/terminate`, {}],
  delete: (id) => ['DELETE', `/v1/jobs/${id}`],
}

async function eachOf(ids: readonly string[], verb: Verb, call: ActAsked['call']) {
  const refused: { id: string; message: string }[] = []
  const left = [...ids]
  const goOn = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift())
      await call(...calls[verb](id)).catch((error: Error) => refused.push({ id: id!, message: error.message }))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, goOn))
  return refused
}

async function bySelection(verb: Verb, { form, call }: ActAsked): Promise<Done> {
  const chosen = chosenOf(form)
  const refused = await eachOf(chosen, verb, call)
  const done = chosen.length - refused.length
  const [first] = refused
  const rest = first ? `; ${count(refused.length)} passed over, #${first.id}: ${first.message}` : ''
  return { say: `${title(verb)}: ${many(done, 'job')}${rest}` }
}

async function byFilter(verb: Verb, asked: ActAsked): Promise<Done> {
  const { query, call } = asked
  const { cursor: _, sort: __, text, args, longer, ...filter } = await filterFor(asked)
  if (text !== undefined || args !== undefined)
    throw new SidejobError(
      'REFUSED',
      'a text, or what stands in args, is looked for in few jobs at a time: select the rows, or take it out of the filter',
    )
  if (stretchIn(query, 0))
    throw new SidejobError(
      'REFUSED',
      'a stretch of ends is one of lists: select the rows, or take it out of the filter',
    )
  const action = verb === 'run' ? 'requeue' : verb
  const { id } = (await call('POST', '/v1/bulk', {
    filter: { ...filter, ...(longer === undefined ? {} : { longer: `${longer} ms` }) },
    action,
  })) as { id: number }
  const search = new URLSearchParams(query)
  search.set('bulk', String(id))
  search.delete('cursor')
  return {
    say: `${title(verb)} of all that fit has begun`,
    to: `/jobs?${search}`,
    link: { text: `#${id}`, to: `/jobs/${id}` },
  }
}

const mustAsk = ({ form }: ActAsked): boolean =>
  isAll(form) || verbOf(form) === 'terminate' || verbOf(form) === 'delete'

const scope: Scope = 'write'

export const acts: Record<string, Act> = {
  selected: {
    scope,
    confirm: (asked) => (mustAsk(asked) ? confirm(asked) : undefined),
    does: (asked) => (isAll(asked.form) ? byFilter : bySelection)(verbOf(asked.form), asked),
  },
}
