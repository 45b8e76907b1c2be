type Stoppable = { readonly token: string; stop: (why: Error) => void }

/** A set, not a map by token: stops are rare, and string keys are slow in workerd. */
export class Stops {
  readonly #open = new Set<Stoppable>()

  add(run: Stoppable): void {
    this.#open.add(run)
  }

  delete(run: Stoppable): void {
    this.#open.delete(run)
  }

  abort(tokens: readonly string[], why: string): void {
    for (const run of this.#open) if (tokens.includes(run.token)) run.stop(new Error(why))
  }
}
