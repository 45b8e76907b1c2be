import { encodeValue } from '../../../core/codec/value.ts'
import type { JobRow } from '../../../engine/engine.ts'
import { useLook } from '../../look.ts'
import { Hidden } from '../../parts/act.tsx'
import { Name } from '../../parts/layout.tsx'
import type { Column } from '../../parts/table.tsx'
import { isInMap, viewOf } from '../../words/filter.ts'
import { unexpected } from '../../words/form.ts'
import { textOf } from '../../words/json.ts'
import { cut } from '../../words/text.ts'

const [MOST, SHOWN] = [8, 60]

/** @example columnsIn(new URLSearchParams('columns=labels.customer,args.order.id')) // ['labels.customer', 'args.order.id'] */
export function columnsIn(query: URLSearchParams): string[] {
  const names = (query.get('columns') ?? '').split(/[\s,]+/).filter(Boolean)
  const wrong = names.find((name) => !isInMap(name))
  if (wrong === undefined && names.length <= MOST) return names
  const got = wrong === undefined ? names.length : cut(wrong)
  throw unexpected('columns', `at most ${MOST} names such as labels.customer or args.order.id, got ${got}`)
}

const ARGS = 'args.'

export const pathsIn = (columns: readonly string[]): string[] =>
  columns.filter((name) => name.startsWith(ARGS)).map((name) => name.slice(ARGS.length))

/** Puts the value into an object under its name, so that `textOf` hides it if the name suggests a secret. */
function wordsOf({ labels, args }: JobRow, column: string): string | undefined {
  const name = column.slice(column.indexOf('.') + 1)
  const value = column.startsWith(ARGS) ? args?.[name] : labels[name]
  if (value === undefined) return undefined
  const text = textOf(encodeValue({ [name]: value })).text.slice(JSON.stringify(name).length + 2, -1)
  return typeof value === 'string' ? text.replace(/^"|"$/g, '') : text
}

export const ownColumns = (query: URLSearchParams): Column<JobRow>[] =>
  columnsIn(query).map((head) => ({
    head,
    kind: 'own',
    cell(job) {
      const words = wordsOf(job, head)
      return words === undefined ? '–' : <Name of={words} most={SHOWN} />
    },
  }))

export function Columns({ query }: { query: URLSearchParams }) {
  const { base } = useLook()
  const others = [...new URLSearchParams(viewOf(query))].filter(([name]) => name !== 'columns')
  return (
    <details class="more keep">
      <summary class="btn small quiet">Columns</summary>
      <form class="menu form" action={`${base}/jobs`}>
        <Hidden of={others} />
        <label>
          Labels and args, separated by commas
          <input
            class="field mono"
            name="columns"
            value={query.get('columns') ?? ''}
            placeholder="labels.customer, args.order.id"
            autocomplete="off"
          />
        </label>
        <div class="row end">
          <button class="btn small" type="submit">
            Show
          </button>
        </div>
      </form>
    </details>
  )
}
