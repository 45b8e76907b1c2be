import type { Child } from 'hono/jsx'
import { cover } from '../words/json.ts'

type Named = {
  name: string
  label: string
  note?: string
  value?: string
  /** The field's name in errors, if it differs. */
  path?: string
}

export type FieldProps = Named & {
  type?: 'text' | 'password' | 'number'
  required?: boolean
  mono?: boolean
  placeholder?: string
  autofocus?: boolean
  list?: string
}
type TextAreaProps = Named & { rows?: number; required?: boolean; placeholder?: string }
type SelectProps = Named & {
  options: readonly string[]
  labels?: Readonly<Record<string, string>>
}

const Label = ({ label, note, children }: Pick<Named, 'label' | 'note'> & { children: Child }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is the child
  <label>
    <span class="fieldname">
      {label} {note && <span class="note">{note}</span>}
    </span>
    {children}
  </label>
)

export const Field = ({ label, note, type = 'text', mono, path, ...input }: FieldProps) => (
  <Label label={label} note={note}>
    <input
      {...input}
      class={`field${mono ? ' mono' : ''}`}
      type={type}
      data-path={path}
      autocomplete="off"
      step={type === 'number' ? 'any' : undefined}
    />
  </Label>
)

const rowsOf = (text: string): number => Math.min(20, text.split('\n').length)

export function TextArea({ label, note, value = '', path, rows = 3, ...area }: TextAreaProps) {
  const field = (
    <Label label={label} note={note}>
      <textarea {...area} class="field" rows={Math.max(rows, rowsOf(value))} spellcheck={false} data-path={path}>
        {value}
      </textarea>
    </Label>
  )
  if (cover(value) === value) return field
  return (
    <details>
      <summary>{label}: show hidden values</summary>
      {field}
    </details>
  )
}

export const Select = ({ name, label, note, value, path, options, labels = {} }: SelectProps) => (
  <Label label={label} note={note}>
    <select class="field" name={name} data-path={path}>
      {options.map((option) => (
        <option value={option} selected={option === value}>
          {Object.hasOwn(labels, option) ? labels[option] : option}
        </option>
      ))}
    </select>
  </Label>
)

export function Options({ title, children, open }: { title: string; open?: boolean; children: Child }) {
  return (
    <details open={open}>
      <summary>{title}</summary>
      <div class="options">{children}</div>
    </details>
  )
}
