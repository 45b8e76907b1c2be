import { plain } from '../words/json.ts'
import { cut } from '../words/text.ts'
import { To } from './layout.tsx'

export function Name({ of, most }: { of: string; most?: number }) {
  const text = cut(of, most)
  const whole = plain(of)
  return text === whole ? <>{text}</> : <span title={whole}>{text}</span>
}

type NameLinkProps = { to: string; of: string; most?: number; label?: string; isMain?: boolean }

export function NameLink({ to, of, most, label, isMain }: NameLinkProps) {
  const name = <Name of={of} most={most} />
  return (
    <To to={to} label={label}>
      {isMain ? <b>{name}</b> : name}
    </To>
  )
}

export const Tag = ({ of }: { of: string }) => (
  <span class="tag">
    <Name of={of} most={24} />
  </span>
)

export const Others = () => <span class="dim">all other classes</span>
