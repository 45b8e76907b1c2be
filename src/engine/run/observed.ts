/** Records whether it is awaited: `await`, `catch` and `Promise.all` call `then`. */
export class Observed<T> extends Promise<T> {
  isObserved = false
  helper = ''

  static override get [Symbol.species]() {
    return Promise
  }

  // biome-ignore lint/suspicious/noThenProperty: this is a promise
  override then<A = T, B = never>(
    done?: ((value: T) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.isObserved = true
    return super.then(done, failed)
  }
}
