// The manual's sample tests run inside another test, so they cannot use vitest itself.

export { expect } from 'vitest'

type Step = () => unknown
export const steps = { before: [] as Step[], tests: [] as [string, Step][], after: [] as Step[] }

export const test = (name: string, step: Step) => steps.tests.push([name, step])
export const beforeAll = (step: Step) => steps.before.push(step)
export const afterAll = (step: Step) => steps.after.push(step)
