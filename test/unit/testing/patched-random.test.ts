import { expect, test } from 'vitest'
import type { Job, Steps } from '../../../src/index.ts'
import { deployed } from './deployed.ts'

type Item =
  | { step: string }
  | { sleep: number }
  | { branches: Item[][] }
  | { patch: string; added: Item[]; removed: Item[] }

const HOUR = 3_600

function chance(seed: number) {
  let state = Math.imul(seed + 1, 0x9e3779b1)
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

type Random = ReturnType<typeof chance>

function program(random: Random, count = { n: 0 }, depth = 0): Item[] {
  return Array.from({ length: 1 + random(4) }, () => {
    const kind = random(depth < 2 ? 6 : 5)
    if (kind < 2) return { step: `s${count.n++}` }
    if (kind < 5) return { sleep: 1 + random(5) }
    return { branches: Array.from({ length: 1 + random(3) }, () => program(random, count, depth + 1)) }
  })
}

const simple = (random: Random, name: string): Item[] =>
  random(3) === 0 ? [] : random(2) === 0 ? [{ step: name }] : [{ sleep: 6 + random(3) }, { step: name }]

function patched(items: Item[], random: Random, count = { n: 0 }): Item[] {
  return items.flatMap((item): Item[] => {
    const inner =
      'branches' in item ? { branches: item.branches.map((branch) => patched(branch, random, count)) } : item
    if (random(3) > 0) return [inner]
    const patch = `p${count.n++}`
    const isReplaced = !('branches' in item) && random(2) === 0
    return [
      { patch, added: simple(random, `new ${patch}`), removed: isReplaced ? [item] : [] },
      ...(isReplaced ? [] : [inner]),
    ]
  })
}

const before = (items: Item[]): Item[] =>
  items.flatMap((item): Item[] =>
    'patch' in item ? item.removed : 'branches' in item ? [{ branches: item.branches.map(before) }] : [item],
  )

type Log = { steps: string[]; answers: Map<string, boolean[]> }

async function play(items: Item[], at: Job | Steps, log: Log): Promise<void> {
  for (const item of items) {
    if ('step' in item) await at.step(item.step, () => void log.steps.push(item.step))
    else if ('sleep' in item) await at.sleep(`${item.sleep} hours`)
    else if ('branches' in item) await at.parallel(item.branches.map((branch) => (at: Steps) => play(branch, at, log)))
    else {
      const is = await at.patched(item.patch)
      log.answers.set(item.patch, [...(log.answers.get(item.patch) ?? []), is])
      await play(is ? item.added : item.removed, at, log)
    }
  }
}

const stepsOf = (items: Item[], { answers }: Log): string[] =>
  items.flatMap((item) => {
    if ('step' in item) return [item.step]
    if ('branches' in item) return item.branches.flatMap((branch) => stepsOf(branch, { answers } as Log))
    if ('patch' in item) return stepsOf(answers.get(item.patch)![0] ? item.added : item.removed, { answers } as Log)
    return []
  })

test('a job does each step of its path once, and each patch keeps its answer, for random functions and places', async () => {
  const seen = { true: 0, false: 0 }
  for (let seed = 0; seed < 400; seed++) {
    const random = chance(seed)
    const edited = patched(program(random), random)
    const first = before(edited)
    const log: Log = { steps: [], answers: new Map() }
    const { job, edit } = deployed((job) => play(first, job, log))
    const hours = random(12)
    const isNew = seed % 5 === 0
    if (isNew) edit((job) => play(edited, job, log))
    let ran = await job.settle()
    for (let hour = 0; hour < 200 && job.status === 'queued'; hour++) {
      if (hour === hours) edit((job) => play(edited, job, log))
      job.advance(HOUR)
      ran = (await job.settle()) ?? ran
    }
    const shown = `seed ${seed}: ${JSON.stringify(edited)} after ${hours} h`
    expect(ran, shown).toMatchObject({ end: 'completed' })
    const answers = [...log.answers]
    for (const [patch, all] of answers) expect(new Set(all).size, `${shown} ${patch}`).toBe(1)
    for (const [patch, [is]] of answers) {
      if (isNew) expect(is, `${shown} ${patch}`).toBe(true)
      seen[`${is!}`]++
    }
    const path = answers.length > 0 ? stepsOf(edited, log) : stepsOf(first, log)
    expect(log.steps.sort(), shown).toEqual(path.sort())
  }
  expect(seen.true).toBeGreaterThan(100)
  expect(seen.false).toBeGreaterThan(100)
})
