// The path of sidejob in a Worker. A Worker with its own routes publishes it at a well-known address.

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

/**
 * Returns the path of sidejob; empty if the whole Worker is sidejob.
 *
 * @example await mountOf('https://my-jobs.acme.workers.dev') // '/_sidejob'
 */
export const mountOf = async (origin: string): Promise<string> => (await wellKnownOf(origin))?.mount ?? ''
