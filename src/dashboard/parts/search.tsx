import { useLook } from '../look.ts'

type SearchProps = { at: string; label: string; value: string; isMain?: boolean }

export function Search({ at, label, value, isMain = false }: SearchProps) {
  const { base } = useLook()
  return (
    <form class={isMain ? 'filter' : 'filter small'} action={`${base}${at}`}>
      <input
        name="q"
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        maxlength={200}
        autofocus={isMain}
      />
    </form>
  )
}
