import { useLook } from '../look.ts'

type SearchProps = { at: string; label: string; hint?: string; value: string }

export function Search({ at, label, hint = label, value }: SearchProps) {
  const { base } = useLook()
  return (
    <form class="filter small" action={`${base}${at}`}>
      <input name="q" type="search" aria-label={label} placeholder={hint} value={value} maxlength={200} />
    </form>
  )
}
