import { decodeValue } from '../../../core/codec/value.ts'
import { type Constraint, isAbout, isLimitOf, limitKeyOf } from '../../../core/constraint.ts'
import { missing, SidejobError } from '../../../core/errors.ts'
import type { ConstraintView, LimitView } from '../../../engine/engine.ts'
import type { Act, ActAsked, Asked, Confirm } from '../../page.ts'
import { Act as Button, LinkButton } from '../../parts/act.tsx'
import { Field, TextArea } from '../../parts/field.tsx'
import { FormCard } from '../../parts/form-card.tsx'
import { Card, JobId, Name } from '../../parts/layout.tsx'
import { type Column, DataTable } from '../../parts/table.tsx'
import { bodyOf, constraintOf, fields, fieldsOf, matchesOf, type Typed } from '../../words/constraint.ts'
import { sum } from '../../words/counts.ts'
import { given, maybe, unexpected } from '../../words/form.ts'
import { boundOf } from '../../words/limit.ts'
import { apiPath, constraintPath } from '../../words/paths.ts'
import { count, cut, many } from '../../words/text.ts'
import { Bounds } from './change.tsx'

const LOOKED_AT = 500
const NAMED = 8

type Tried = Awaited<ReturnType<typeof tryOn>>
type Drafted = NonNullable<Awaited<ReturnType<typeof draftedIn>>>

async function tryOn({ engine }: Asked, typed: Typed) {
  let wanted: Constraint
  try {
    wanted = constraintOf(typed)
  } catch (error) {
    if (error instanceof SidejobError) return { fault: error.message }
    throw error
  }
  const { jobs, cursor } = await engine.jobs.list({ status: ['queued', 'running', 'suspended'], limit: LOOKED_AT })
  const matched = jobs.map((job) => ({ ...job, args: job.args === null ? null : decodeValue(job.args) }))
  const fits = matched.filter((job) => isAbout(wanted, job))
  return {
    looked: jobs.length,
    more: cursor !== null,
    fits: fits.length,
    limits: new Set(fits.map((job) => limitKeyOf('', wanted, job))).size,
    named: fits.slice(0, NAMED),
  }
}

export async function draftedIn(asked: Asked, constraints: readonly ConstraintView[]) {
  const { query } = asked
  const name = query.get('constraint')
  if (name === null) return undefined
  const known = constraints.find((one) => one.name === name)
  const isTyped = fields.some((field) => query.has(field))
  const typed: Typed = isTyped ? typedIn(query) : known ? fieldsOf(known) : {}
  const tried = Object.values(typed).some(Boolean) ? await tryOn(asked, typed) : undefined
  return { name, isNew: !known, typed, tried }
}

const typedIn = (form: Pick<FormData, 'get'>): Typed =>
  Object.fromEntries(fields.map((field) => [field, maybe(form, field)]))

const constraining = (verb: 'PUT' | 'DELETE', said: (isNew: boolean) => string): Act => ({
  scope: 'admin',
  ...(verb === 'PUT' && { confirm: confirmed }),
  async does(asked) {
    const { form, call, engine } = asked
    const name = given(form, 'constraint')
    const was = await engine.constraints.get(name).catch(missing)
    await call(verb, apiPath('constraints', name), verb === 'PUT' ? bodyOf(typedIn(form)) : undefined)
    return {
      say: `Constraint ${name} ${said(!was)}`,
      to: '/limits',
      undo: { act: was ? 'constrain' : 'unconstrain', constraint: name, sure: 'yes', ...(was && fieldsOf(was)) },
    }
  },
})

export const acts: Record<string, Act> = {
  constrain: constraining('PUT', (isNew) => (isNew ? 'created. Waiting jobs are matched again' : 'changed')),
  unconstrain: constraining('DELETE', () => 'removed. Jobs that waited for it continue'),
}

/** Without a bound a constraint has no effect, and without a match it holds back all jobs. */
function confirmed({ form }: ActAsked): Confirm | undefined {
  if (form.has('sure')) return undefined
  const { match, concurrency, rate } = constraintOf(typedIn(form))
  if (!concurrency && !rate) throw unexpected('concurrency', 'max running or starts per period, got neither')
  if (match.queue || match.class || match.args) return undefined
  return {
    title: 'Limit all jobs?',
    text: ['Queue, class and args are empty, so the constraint matches each job.'],
    verb: 'Limit all jobs',
  }
}

function TriedText({ tried }: { tried: Tried }) {
  if (tried.fault !== undefined) return <p class="err">{tried.fault}</p>
  const { looked, more, fits, limits, named } = tried
  return (
    <>
      <p>
        <b>{`${count(fits)} of the ${more ? 'newest ' : ''}${many(looked, 'open job')} ${fits === 1 ? 'matches' : 'match'}`}</b>
        {limits > 1 && `, under ${many(limits, 'limit')}`}
        {named.length > 0 && ':'}
      </p>
      <p class="facts">
        {named.map(({ id, class: name }) => (
          <span>
            <JobId id={id} /> <Name of={name} most={24} kind="dim" />
          </span>
        ))}
        {fits > named.length && <span class="dimmer">{count(fits - named.length)} more</span>}
      </p>
    </>
  )
}

export function ConstraintForm({ drafted: { name, isNew, typed, tried } }: { drafted: Drafted }) {
  return (
    <FormCard
      title={isNew ? 'New constraint' : `Change constraint ${cut(name, 40)}`}
      act="constrain"
      scope="admin"
      at="/limits"
      press={isNew ? 'Create constraint' : 'Save'}
      preview={['constraint', ...fields]}
    >
      <div class="cronf">
        {isNew ? (
          <Field name="constraint" label="Name" path="key" note="required" value={name} required mono />
        ) : (
          <input type="hidden" name="constraint" value={name} />
        )}
        <Field name="queue" label="Queue" note="* matches any text" value={typed.queue} mono />
        <Field name="class" label="Class" note="* matches any text" value={typed.class} mono />
        <Field
          name="groupBy"
          label="One limit per value of"
          placeholder="host"
          note="an arg"
          value={typed.groupBy}
          mono
        />
      </div>
      <div class="cronf">
        <Bounds note="required, or a rate" {...typed} />
      </div>
      <TextArea name="args" label="Args" note='JSON: { "size": "large" }' rows={2} value={typed.args} />
      <div id="preview" data-island aria-live="polite">
        {tried && <TriedText tried={tried} />}
      </div>
    </FormCard>
  )
}

function useOf(name: string, limits: readonly LimitView[]): string {
  const own = limits.filter(({ key }) => isLimitOf(name, key))
  const [running, waiting] = [sum(own, (limit) => limit.running), sum(own, (limit) => limit.waiting)]
  return running + waiting === 0 ? '' : `; ${count(running)} running, ${count(waiting)} waiting`
}

const columnsOf = (limits: readonly LimitView[]): readonly Column<ConstraintView>[] => [
  {
    head: 'Constraint',
    kind: 'wraps',
    cell: (one) => (
      <>
        <Name of={one.name} most={28} kind="mono" isMain />
        <span class="sub" title={matchesOf(one)}>
          {`${cut(matchesOf(one), 80)}: ${boundOf(one)}${useOf(one.name, limits)}`}
        </span>
      </>
    ),
  },
  {
    head: '-Acts',
    cell: ({ name }) => (
      <span class="row">
        <LinkButton to={constraintPath(name)} scope="admin" small label={`Change constraint ${name}`}>
          Change
        </LinkButton>
        <Button
          act="unconstrain"
          at="/limits"
          scope="admin"
          fields={{ constraint: name }}
          icon="x"
          kind="quiet"
          small
          label={`Remove constraint ${name}`}
        />
      </span>
    ),
  },
]

export function Constraints({ constraints, limits }: { constraints: ConstraintView[]; limits: readonly LimitView[] }) {
  return (
    <Card
      title="Constraints"
      right={
        <LinkButton to="/limits?constraint=" scope="admin" small label="New constraint">
          New
        </LinkButton>
      }
    >
      <DataTable
        caption="Constraints"
        empty="No constraints. Workers and groups can set limits too."
        rows={constraints}
        columns={columnsOf(limits)}
        isPlain
        kind="lined"
      />
    </Card>
  )
}
