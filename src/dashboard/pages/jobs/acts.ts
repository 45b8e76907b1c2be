import { SidejobError } from '../../../core/errors.ts'
import { isId, statuses } from '../../../core/job.ts'
import type { BulkInput } from '../../../engine/engine.ts'
import { actOnEach, askCounted, countedIds, startCounted } from '../../counted.ts'
import type { Act, ActAsked, Confirm, Done } from '../../page.ts'
import { stretchIn, tokensOf } from '../../words/filter.ts'
import { unexpected } from '../../words/form.ts'
import { notRun } from '../../words/job.ts'
import { jobLink } from '../../words/paths.ts'
import { count, many, title } from '../../words/text.ts'
import { removeJob } from '../job/acts.ts'
import { filterFor } from './filter.tsx'

const MOST = 50

const verbs = ['retry', 'run', 'terminate', 'delete'] as const
type Verb = (typeof verbs)[number]

const lost: Partial<Record<Verb, string>> = {
  terminate:
    'The jobs end after any shutdown runs. Values waiting at their ports are not read, unless you run the jobs again with force.',
  delete:
    'This deletes the jobs with their state, ports, results and logs, and all jobs below them. It cannot be undone.',
}

function verbOf(form: FormData): Verb {
  const given = String(form.get('do') ?? '')
  const verb = verbs.find((one) => one === given)
  if (!verb) throw unexpected('do', `one of ${verbs.join(', ')}, got "${given}"`)
  return verb
}

const isAll = (form: FormData): boolean => form.get('fit') === 'all'

function chosenOf(form: FormData): number[] {
  const chosen = form.getAll('sel').map(String)
  if (chosen.length === 0 || chosen.length > MOST || !chosen.every(isId))
    throw unexpected('sel', `1 to ${MOST} job ids, got ${count(chosen.length)}`)
  return chosen.map(Number)
}

const actions = { retry: 'retry', run: 'requeue', terminate: 'terminate', delete: 'delete' } as const

async function filterOf(asked: ActAsked): Promise<NonNullable<BulkInput['filter']>> {
  const { cursor: _, sort: __, text, args, alias, status, ...filter } = await filterFor(asked)
  const unable = Object.entries({ text, args, alias, ended: stretchIn(asked.query, 0) })
  const name = unable.find(([, value]) => value !== undefined)?.[0]
  if (name)
    throw new SidejobError(
      'REFUSED',
      `A bulk action cannot search by ${name}. Select the rows, or remove ${name} from the filter`,
    )
  return { ...filter, ...(status === undefined ? {} : { status: [status].flat() }) }
}

const conditionsOf = (query: URLSearchParams): string =>
  tokensOf(query)
    .map(({ name, value }) => (name === 'error' ? 'this kind of error' : `${name} ${value}`))
    .join(', ')

async function confirm(asked: ActAsked): Promise<Confirm> {
  const { form, query } = asked
  const verb = verbOf(form)
  const action = actions[verb]
  const isTyped = verb === 'delete'
  const text = lost[verb] ? [lost[verb]] : []
  if (!isAll(form)) {
    const ids = chosenOf(form)
    return askCounted(asked, { of: { ids, action }, verb: title(verb), text, isTyped, chosen: ids.length })
  }
  const filter = await filterOf(asked)
  return askCounted(asked, {
    of: { filter: Object.keys(filter).length > 0 ? filter : { status: [...statuses] }, action },
    verb: title(verb),
    text: [
      `All jobs with ${conditionsOf(query) || 'any status, in every queue'}.`,
      ...(action === 'requeue' ? ['This cancels current runs, so that they have no effect.'] : text),
    ],
    isTyped,
  })
}

async function actOn(id: number, verb: Verb, asked: ActAsked): Promise<string | undefined> {
  if (verb !== 'delete') return notRun(await asked.call('POST', `/v1/jobs/${id}/${verb}`, {}))
  await removeJob(asked, id)
}

async function bySelection(verb: Verb, asked: ActAsked): Promise<Done> {
  const { form } = asked
  const chosen = form.has('counted') ? countedIds(asked) : chosenOf(form)
  const { done, rest } = await actOnEach(chosen, (id) => actOn(id, verb, asked))
  return { say: `${title(verb)}: ${many(done, 'job')}${rest}` }
}

async function byFilter(verb: Verb, asked: ActAsked): Promise<Done> {
  const id = await startCounted(asked, actions[verb], conditionsOf(asked.query))
  const search = new URLSearchParams(asked.query)
  search.set('bulk', String(id))
  // The action changes the status of the jobs, so these filters would hide them.
  for (const name of ['cursor', 'status', 'error']) search.delete(name)
  return {
    say: `${title(verb)}: ${many(countedIds(asked).length, 'job')}`,
    to: `/jobs?${search}`,
    link: jobLink(id),
  }
}

const mustAsk = ({ form }: ActAsked): boolean => isAll(form) || verbOf(form) in lost

export const acts: Record<string, Act> = {
  selected: {
    scope: 'write',
    confirm: (asked) => (mustAsk(asked) ? confirm(asked) : undefined),
    does: (asked) => (isAll(asked.form) ? byFilter : bySelection)(verbOf(asked.form), asked),
  },
}
