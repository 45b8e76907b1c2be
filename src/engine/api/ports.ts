import type { Encoded } from '../../core/codec/value.ts'
import { ended } from '../../core/job.ts'
import { sleep } from '../../core/sleep.ts'
import { MINUTE } from '../../core/units.ts'
import { defineWords, writeWords } from '../../redis/changes.ts'
import { itemText, shownItem } from '../../redis/item.ts'
import { ops, type Words } from '../../redis/ops.ts'
import { countsOf, sideOf, statusOf } from '../../redis/record.ts'
import type { Context } from '../context.ts'
import type { Call, Dir, Item, PortSpecs, PortView, Ref } from '../engine.ts'
import { checkRoot, checkValue, checkValues } from '../jobs/checks.ts'
import { overlay } from '../jobs/new-job.ts'
import { shownPortOf, shownValues } from '../run/shown.ts'

type Target = { in: string } | { out: string }

/** Milliseconds between reads. The pauses grow, because the smallest plan allows only a few reads per invocation. */
const [FIRST_LOOK, LAST_LOOK] = [50, 2_000]

const withContext = (item: string) => ({ context: '{}', ...shownItem(item) })

const portOf = (dir: Dir, port: string): Target => (dir === 'in' ? { in: port } : { out: port })

type Wanted = { dir: Dir; port: string; max: number; wait: number; signal?: AbortSignal }

/** Resolves when the port has `max` values, at the end of the wait, or when the job has ended. */
async function filled({ store, now }: Context, job: Ref, { dir, port, max, wait, signal }: Wanted) {
  const [side, end] = [sideOf(dir), now() + wait]
  for (let pause = FIRST_LOOK; ; pause = Math.min(2 * pause, LAST_LOOK)) {
    const { document } = await store.inspect(job, { dir: side, port, limit: 0 })
    const { pushed, taken } = countsOf(document, side, port) ?? { pushed: 0, taken: 0 }
    const left = end - now()
    if (pushed - taken >= max || ended.has(statusOf(document)) || left <= 0 || signal?.aborted) return
    await sleep(Math.min(pause, left), signal)
  }
}

export function createPorts(parts: Context) {
  const { store, registry, classes, change, view } = parts

  return {
    async define(job: Ref, specs: { in?: PortSpecs; out?: PortSpecs }, call?: Call) {
      checkRoot(specs.in, call)
      const { document } = await store.inspect(job)
      const found = await registry.find(document.queue, document.class)
      const words: Words[] = []
      if (specs.in) words.push(defineWords('in', overlay(found?.definition.in, specs.in), store.vault))
      if (specs.out) words.push(defineWords('out', overlay(found?.definition.out, specs.out), store.vault))
      await change(job, words, call)
      return view(job)
    },

    async get(job: Ref, dir: Dir, port: string, limit: number = 100): Promise<PortView & { values: Item[] }> {
      const side = sideOf(dir)
      const { document, items } = await store.inspect(job, { dir: side, port, limit })
      const counts = countsOf(document, side, port)
      if (counts === undefined)
        return { ...shownPortOf(document, side, { port: '*', pushed: 0, taken: 0 }), channels: [], values: [] }
      const values = shownValues(document, side, port, items.map(withContext))
      return { ...shownPortOf(document, side, { port, ...counts }), values }
    },

    async write(
      job: Ref,
      dir: Dir,
      port: string,
      values: Encoded[],
      {
        schema,
        ...writing
      }: { notify?: boolean; log?: boolean; setDefault?: boolean; context?: Encoded; schema?: string } = {},
      call?: Call,
    ) {
      const { name, found } = await classes.of(job)
      checkValues(found, name, { dir, port }, values, ['values'], schema)
      const [size] = await change(job, [writeWords(portOf(dir, port), { ...writing, values }, store.vault)], call)
      return { size: Number(size) }
    },

    async take(
      job: Ref,
      dir: Dir,
      port: string,
      { max = 1, wait = 0 }: { max?: number; wait?: number },
      call?: Call,
    ): Promise<{ values: Item[] }> {
      if (wait > 0) await filled(parts, job, { dir, port, max, wait, signal: call?.signal })
      const words = ops.take({ from: portOf(dir, port), most: max })
      const [isDefault, ...items] = await change(job, [words], call, MINUTE)
      return {
        values: items.map((item) => ({
          ...withContext(store.vault.show.item(item)),
          ...(isDefault ? { default: true as const } : {}),
        })),
      }
    },

    async setDefault(job: Ref, dir: Dir, port: string, value: Encoded | undefined, call?: Call, schema?: string) {
      const { name, found } = await classes.of(job)
      if (value !== undefined) checkValue(found, name, { dir, port }, value, ['value'], schema)
      const kept = value === undefined ? undefined : store.vault.sealItem(itemText({ data: value }))
      await change(job, [ops.default({ of: portOf(dir, port), value: kept })], call)
    },

    async setChannels(job: Ref, dir: Dir, port: string, channels: string[], call?: Call) {
      if (dir === 'in') checkRoot({ [port]: { channels } }, call)
      await change(job, [ops.channels({ of: portOf(dir, port), set: channels })], call)
    },

    async connect(job: Ref, dir: Dir, port: string, to: Target[], call?: Call) {
      const [moved] = await change(job, [ops.connect({ from: portOf(dir, port), to })], call)
      return { moved: Number(moved) }
    },
  }
}
