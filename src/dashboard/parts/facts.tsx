import type { Child } from 'hono/jsx'

export type Fact = [name: string, value: Child]

const isThere = ([, value]: Fact): boolean => value !== undefined && value !== null && value !== false && value !== ''

export const Facts = ({ of, kind }: { of: readonly Fact[]; kind?: string }) => (
  <dl class={kind ? `kv ${kind}` : 'kv'}>
    {of.filter(isThere).map(([name, value]) => (
      <>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </>
    ))}
  </dl>
)
