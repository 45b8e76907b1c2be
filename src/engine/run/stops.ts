// Runs under way that can be told to stop: what their functions hear is `job.signal`.

type Open = { token: string; stop: (why: Error) => void }

/** Told by token, which happens seldom: nothing is looked up by it until then, since a text as a key is dear in workerd. */
export class Stops {
  readonly #open = new Set<Open>()

  /** Answers what takes it off. */
  add(token: string, stop: (why: Error) => void): () => void {
    const one = { token, stop }
    this.#open.add(one)
    return () => this.#open.delete(one)
  }

  tell(tokens: readonly string[], why: string): void {
    for (const { token, stop } of this.#open) if (tokens.includes(token)) stop(new Error(why))
  }
}
