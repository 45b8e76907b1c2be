import { formatJson, isSecretName } from '../words/json.ts'
import { choicesOf, kindOf, readSchema, type Schema, sampleOf, wordsOf } from '../words/schema.ts'
import { cut } from '../words/text.ts'
import { LINES, memberOf } from '../words/value-form.ts'
import { Field, Select, TextArea } from './field.tsx'

type FieldsProps = {
  name: string
  label: string
  schema: string | undefined
  more?: string
  otherwise?: string
  isNeeded?: boolean
  isOptional?: boolean
  path?: string
  was?: (field: string) => string | undefined
}

type OneProps = Omit<FieldsProps, 'schema' | 'isNeeded'> & { of: Schema | undefined; depth: number; isNeeded: boolean }

const labels: Record<string, string> = { true: 'yes', false: 'no', '': '' }

const MOST = 4_000

const SchemaText = ({ of }: { of: Schema }) => (
  <pre class="schema" tabindex={0}>
    {formatJson(JSON.stringify(of).slice(0, MOST))}
  </pre>
)

function Json({ name, label, of, more, path, was, isNeeded }: OneProps) {
  const says = of === undefined ? 'as JSON' : `${wordsOf(of)}, as JSON`
  return (
    <>
      <TextArea
        name={name}
        label={label}
        note={`${says}${more ?? ''}`}
        rows={2}
        placeholder={of ? sampleOf(of) : '{ "order": 7 }'}
        value={was?.(name)}
        path={path}
        required={isNeeded}
      />
      {of && Object.keys(of).length > 0 && <SchemaText of={of} />}
    </>
  )
}

function AsJson({ name, label, path, was, depth }: OneProps) {
  if (depth > 0) return null
  return (
    <details open={Boolean(was?.(name))}>
      <summary class="note">or as JSON</summary>
      <TextArea name={name} label={`${label}, as JSON`} rows={2} value={was?.(name)} path={path} />
    </details>
  )
}

function List(props: OneProps) {
  const { name, label, of, more = '', otherwise, was, path } = props
  const field = `${name}/${LINES}`
  return (
    <>
      <TextArea
        name={field}
        label={label}
        note={`${wordsOf(of)}; one per line${more}`}
        placeholder={otherwise && [JSON.parse(otherwise)].flat().join('\n')}
        value={was?.(field)}
        path={path}
      />
      <AsJson {...props} />
    </>
  )
}

function Members(props: OneProps) {
  const { name, label, of, more, was, depth, isOptional } = props
  return (
    <fieldset class="parts">
      <legend>
        {label} <span class="note">{more?.replace(/^[,;] /, '')}</span>
      </legend>
      {Object.entries(of!.properties!).map(([member, one]) => (
        <One
          name={memberOf(name, member)}
          label={member}
          of={one}
          more={of!.required?.includes(member) && !isOptional ? ', required' : ''}
          otherwise={one.default === undefined ? undefined : JSON.stringify(one.default)}
          path={member}
          was={was}
          isNeeded={false}
          isOptional={isOptional}
          depth={depth + 1}
        />
      ))}
      <AsJson {...props} />
    </fieldset>
  )
}

function One(given: OneProps) {
  const { name, label, of, otherwise, path, was, isNeeded, depth } = given
  const usual = otherwise === undefined ? '' : String(JSON.parse(otherwise))
  const more = `${given.more ?? ''}${otherwise === undefined ? '' : `; default ${cut(otherwise, 30)}`}`
  const props = { ...given, more }
  const note = `${wordsOf(of)}${more}`
  const kind = kindOf(of, depth)
  if (kind === 'json') return <Json {...props} />
  if (kind === 'list') return <List {...props} />
  if (kind === 'object') return <Members {...props} />
  if (kind === 'choice' || kind === 'boolean') {
    const choices = kind === 'boolean' ? ['true', 'false'] : choicesOf(of!)
    const words = kind === 'boolean' ? labels : {}
    return (
      <Select
        name={name}
        label={label}
        note={note}
        options={isNeeded ? choices : ['', ...choices]}
        labels={{ ...words, '': usual && `${words[usual] ?? usual} (default)` }}
        value={was?.(name)}
        path={path}
      />
    )
  }
  return (
    <Field
      name={name}
      label={label}
      note={note}
      type={kind === 'number' ? 'number' : isSecretName(label) ? 'password' : 'text'}
      value={was?.(name)}
      required={isNeeded && kind === 'number'}
      placeholder={usual || undefined}
      path={path}
      mono
    />
  )
}

export const ValueFields = ({ schema, isNeeded = false, ...props }: FieldsProps) => (
  <One {...props} isNeeded={isNeeded} of={readSchema(schema)} depth={0} />
)
