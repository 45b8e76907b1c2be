// Runs under way that can be told to stop: what their functions hear is `job.signal`.

/** By token. */
export class Stops {
  readonly #open = new Map<string, (why: Error) => void>()

  /** Answers what takes it off. */
  add(token: string, stop: (why: Error) => void): () => void {
    this.#open.set(token, stop)
    return () => this.#open.delete(token)
  }

  tell(tokens: readonly string[], why: string): void {
    for (const token of tokens) this.#open.get(token)?.(new Error(why))
  }
}
