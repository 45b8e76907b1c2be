// Fields of forms, each with its name, and what it expects beside it.

import type { Child } from 'hono/jsx'

type FieldProps = {
  name: string
  label: string
  note?: string
  /** What errors call it, where that is not its name. */
  path?: string
  value?: string
  type?: 'text' | 'number' | 'search' | 'datetime-local'
  required?: boolean
  mono?: boolean
  placeholder?: string
  list?: string
}

export function Field({
  name,
  label,
  note,
  value,
  type = 'text',
  required,
  mono,
  placeholder,
  list,
  path,
}: FieldProps) {
  return (
    <label>
      <span class="fieldname">
        {label} {note && <span class="note">{note}</span>}
      </span>
      <input
        class={`field${mono ? ' mono' : ''}`}
        name={name}
        type={type}
        value={value}
        required={required}
        placeholder={placeholder}
        list={list}
        data-path={path}
        autocomplete="off"
        step={type === 'number' ? 'any' : undefined}
      />
    </label>
  )
}

export function TextArea({
  name,
  label,
  note,
  value,
  rows = 3,
  path,
  required,
}: {
  name: string
  label: string
  note?: string
  value?: string
  rows?: number
  path?: string
  required?: boolean
}) {
  return (
    <label>
      <span class="fieldname">
        {label} {note && <span class="note">{note}</span>}
      </span>
      <textarea class="field" name={name} rows={rows} spellcheck={false} data-path={path} required={required}>
        {value}
      </textarea>
    </label>
  )
}

export function Select({
  name,
  label,
  options,
  labels = {},
  value,
  note,
  path,
}: {
  name: string
  label: string
  note?: string
  value?: string
  options: readonly string[]
  /** How options are called where that is not what they are. */
  labels?: Readonly<Record<string, string>>
  /** What errors call it, where that is not its name. */
  path?: string
}) {
  return (
    <label>
      <span class="fieldname">
        {label} {note && <span class="note">{note}</span>}
      </span>
      <select class="field" name={name} data-path={path}>
        {options.map((option) => (
          <option value={option} selected={option === value}>
            {Object.hasOwn(labels, option) ? labels[option] : option}
          </option>
        ))}
      </select>
    </label>
  )
}

/** What is asked for seldom. */
export function Options({ title, children, open }: { title: string; open?: boolean; children: Child }) {
  return (
    <details open={open}>
      <summary>{title}</summary>
      <div class="options">{children}</div>
    </details>
  )
}
