import { expect, test } from 'vitest'
import { core } from '../../functions/core.ts'
import type { Worker } from '../../src/core/worker.ts'
import { blockAt } from './blocks.ts'
import { type Claim, claims, named } from './claims.ts'
import { KEY, startSite } from './site.ts'
import { defined, load, readers } from './snippet.ts'
import { steps } from './snippets/vitest.ts'

const greeters = () => defined('docs/ports.md', 'import { defineWorker')

/** All examples share a queue, which cannot have two classes with the same name. */
async function classesOf({ classes = [] }: Claim): Promise<Worker[]> {
  const { double, approval, hello } = await readers()
  return [double!, approval!, hello!, ...(await greeters()), ...core, ...classes.map(named)]
}

async function runTests(): Promise<number> {
  const tests = steps.tests.splice(0)
  for (const [, run] of tests) await run()
  return tests.length
}

test.each(claims.map((claim) => [claim.page, claim.starts, claim] as const))(
  'the snippet of %s from `%s` on has the stated result',
  async (page, starts, claim) => {
    const site = await startSite(await classesOf(claim))
    try {
      await claim.before?.(site)
      Object.assign(globalThis, {
        client: site.client,
        url: site.url,
        key: KEY,
        createInvoice: async () => ({ id: 'inv_1' }),
        mail: async () => undefined,
      })
      const block = blockAt(page, starts)
      const text = Object.entries(claim.stands?.(site) ?? {}).reduce(
        (all, [from, to]) => all.replaceAll(from, to),
        block.text,
      )
      const [exported] = await Promise.all([load({ ...block, text }), claim.meanwhile?.(site)])
      const tests = await runTests()
      expect(tests > 0).toBe(text.includes("from 'vitest'"))
      await claim.after?.(site, exported as Record<string, Worker>)
    } finally {
      await site.close()
    }
  },
)
