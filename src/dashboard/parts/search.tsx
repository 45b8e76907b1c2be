import { useLook } from '../look.ts'

type SearchProps = { label: string; value: string; isMain?: boolean }

export function Search({ label, value, isMain = false }: SearchProps) {
  const { base, here } = useLook()
  return (
    <form class={isMain ? 'filter' : 'filter small'} action={`${base}${here.split('?')[0]}`}>
      <input
        name="q"
        type="search"
        aria-label={label}
        placeholder={label}
        value={value}
        maxlength={200}
        autofocus={isMain}
        data-seeks={isMain ? '' : undefined}
      />
    </form>
  )
}
