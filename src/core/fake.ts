import type { Worker } from './worker.ts'

type Fake = (functions: readonly Worker[]) => (request: Request) => Promise<Response>

const PLACE = Symbol.for('sidejob.fake')
const here = globalThis as { [PLACE]?: Fake }

export const currentFake = (): Fake | undefined => here[PLACE]

export function setFake(fake: Fake | undefined): void {
  if (fake) here[PLACE] = fake
  else delete here[PLACE]
}
