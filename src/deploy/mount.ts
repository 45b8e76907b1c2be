export type WellKnown = { mount: string; cron?: string }

const PATIENCE_MS = 10_000

export async function wellKnownOf(origin: string): Promise<WellKnown | undefined> {
  const url = `${origin}/.well-known/sidejob`
  const answer = await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) }).catch(() => undefined)
  const found = answer?.ok
    ? ((await answer.json().catch(() => undefined)) as Partial<WellKnown> | undefined)
    : undefined
  return typeof found?.mount === 'string' ? (found as WellKnown) : undefined
}

export const mountOf = async (origin: string): Promise<string> => (await wellKnownOf(origin))?.mount ?? ''
