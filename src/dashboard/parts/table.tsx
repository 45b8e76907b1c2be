// Tables: a caption for screen readers, named columns, and rows to which a script may append older ones.

import type { Child } from 'hono/jsx'

/** `#`: a column of numbers; `##`: phones hide it; `-`: a name for screen readers only. */
export function HeadCell({ name }: { name: string }) {
  if (name.startsWith('-'))
    return (
      <th scope="col">
        <span class="vh">{name.slice(1)}</span>
      </th>
    )
  const kind = name.startsWith('##') ? 'num wide' : name.startsWith('#') ? 'num' : undefined
  return (
    <th scope="col" class={kind}>
      {name.replace(/^##?/, '')}
    </th>
  )
}

type TableProps = {
  caption: Child
  isTitled?: boolean
  heads: readonly string[]
  isPlain?: boolean
  /** Classes: `lined` is a list on a phone. */
  kind?: string
  id?: string
  grows?: boolean
  children?: Child
}

export function Table({ caption, isTitled, heads, isPlain, kind, id, grows, children }: TableProps) {
  return (
    <table class={kind ? `tbl ${kind}` : 'tbl'}>
      <caption class={isTitled ? undefined : 'vh'}>{caption}</caption>
      <thead class={isPlain ? 'vh' : undefined}>
        <tr>
          {heads.map((name) => (
            <HeadCell name={name} />
          ))}
        </tr>
      </thead>
      <tbody id={id} data-found={grows && ''}>
        {children}
      </tbody>
      {grows && <tbody id="older" data-older data-island />}
    </table>
  )
}
