// Runs under way that can be told to stop: what their functions hear is `job.signal`.

/** A run that can be told to stop. */
export type Stoppable = { readonly token: string; stop: (why: Error) => void }

/** Told by token, which happens seldom: nothing is looked up by it until then, since a text as a key is dear in workerd. */
export class Stops {
  readonly #open = new Set<Stoppable>()

  add(run: Stoppable): void {
    this.#open.add(run)
  }

  delete(run: Stoppable): void {
    this.#open.delete(run)
  }

  tell(tokens: readonly string[], why: string): void {
    for (const run of this.#open) if (tokens.includes(run.token)) run.stop(new Error(why))
  }
}
