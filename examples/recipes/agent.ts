// Calls a model in turns until it has finished or its budget is used up. The cost of each turn is stored with the
// response.

import * as z from 'zod'
import { defineWorker, Terminal } from '../../src/index.ts'

type Turn = { says: string; cents: number; done: boolean }
export const model = {
  ask: async (_task: string, _turn: number): Promise<Turn> => ({ says: '', cents: 0, done: true }),
}

const TURNS = 50

export const agent = defineWorker({
  class: 'agent',
  args: z.object({ task: z.string(), budget: z.number().int() }),
  result: z.object({ says: z.string(), cents: z.number() }),
  async perform(job) {
    let cents = 0
    for (let turn = 1; turn <= TURNS; turn++) {
      const { says, cents: cost, done } = await job.step(`turn ${turn}`, () => model.ask(job.args.task, turn))
      cents += cost
      if (done) return { says, cents }
      if (cents >= job.args.budget) throw new Terminal(`the budget is used up after ${cents} cents: ${says}`)
    }
    throw new Terminal(`the task is not done after ${TURNS} turns`)
  },
})
