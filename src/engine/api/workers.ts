import { decodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { limits } from '../../core/limits.ts'
import { mapValues } from '../../core/map-values.ts'
import { changedPaths, patched } from '../../core/merge-patch.ts'
import type { WorkerPatch } from '../../core/schemas.ts'
import type { Worker } from '../../core/worker.ts'
import type { Context } from '../context.ts'
import type { StoredWorker, WorkerDefinition, WorkerView } from '../engine.ts'
import { deploymentsIn, keyOf } from '../jobs/announcement.ts'
import { checkedUrl, checkSchemas, schemaOfClass } from '../jobs/checks.ts'
import { workerUnfitOf } from './worker-unfit.ts'

const refuse = (path: string[], message: string): never => {
  throw new SidejobError('BAD_REQUEST', `${path.join('.')}: ${message}`, { path })
}

function isFunction(queue: string, name: string): never {
  throw new SidejobError(
    'REFUSED',
    `class ${name} of queue ${queue} is defined in the code of a deployment: change it there, or register under another queue or class. If the deployment no longer exists, send DELETE /v1/workers/${queue}/${encodeURIComponent(name)} first`,
  )
}

function checkDefinition(definition: WorkerDefinition, allowHosts: readonly string[]): void {
  checkSchemas(definition)
  if (definition.push) checkedUrl(definition.push.url, allowHosts, 'workers', ['push', 'url'])
}

function checkPatched({ push, pull, pin, in: inputs = {}, out = {} }: WorkerDefinition): void {
  if (push && pull) refuse(['pull'], 'expected "push" or "pull", got both')
  if (pin && pull) refuse(['pin'], 'expected a function or a push worker, got a pull worker, which sidejob cannot call')
  if (push && push.url === undefined) refuse(['push', 'url'], 'is missing')
  for (const [dir, ports] of Object.entries({ in: inputs, out }))
    if (Object.keys(ports).length > limits.ports.most)
      refuse([dir], `expected at most ${limits.ports.most} ports, got ${Object.keys(ports).length}`)
}

function opened({ args, result, in: inputs, out, ...patch }: WorkerPatch): Record<string, unknown> {
  const value = (one: unknown) => (typeof one === 'string' && decodeValue(one as never) === null ? null : one)
  const ports = (all: WorkerPatch['in']) =>
    all && mapValues(all, (port) => port && { ...port, default: value(port.default), schema: value(port.schema) })
  return { ...patch, args: value(args), result: value(result), in: ports(inputs), out: ports(out) }
}

function overtaken(name: string, was: WorkerDefinition, is: WorkerDefinition | ''): never {
  if (is === '') throw new SidejobError('NOT_FOUND', `class ${name} was unregistered during this call`)
  const what = changedPaths(was, is).join(', ')
  throw new SidejobError(
    'CONFLICT',
    `class ${name} was changed during this call: ${what}. Get the class and apply your change again`,
  )
}

type ServedBy = WorkerView['servedBy'][number]

function byClass(deployed: Record<string, string>): Map<string, ServedBy[]> {
  const found = new Map<string, ServedBy[]>()
  for (const [id, { at, classes, versions }] of deploymentsIn(deployed).sort(([, a], [, b]) => b.at - a.at))
    for (const key of classes) {
      const serving = versions?.find((one) => one.classes.includes(key))
      found.set(key, [...(found.get(key) ?? []), { id, at, version: serving?.version ?? null }])
    }
  return found
}

const shown = (definition: WorkerDefinition): StoredWorker => ({
  ...definition,
  schema: schemaOfClass({ definition }),
})

export function createWorkers({ store, registry, ring, announce, allowHosts }: Context, workers: readonly Worker[]) {
  const unfitting = async (queue: string, name: string, definition: WorkerDefinition) => ({
    ...shown(definition),
    unfit: await workerUnfitOf({ store }, { queue, class: name, definition }),
  })

  return {
    async list(): Promise<{ workers: WorkerView[] }> {
      await announce()
      const [names, heard, deployed] = await Promise.all([
        store.queueNames(),
        store.lastHeartbeats(),
        store.deployments(),
      ])
      const queues = new Set([...names, ...workers.map(({ queue = 'default' }) => queue)])
      const serving = byClass(deployed)
      const lists = await Promise.all(
        [...queues].sort().map(async (queue) => [queue, await registry.list(queue)] as const),
      )
      return {
        workers: lists.flatMap(([queue, classes]) =>
          [...classes].map(([name, found]) => {
            const { definition } = found
            const isFunction = !definition.push && !definition.pull
            return {
              queue,
              class: name,
              ...definition,
              schema: schemaOfClass(found),
              seen: (definition.pull && heard.get(queue)) || null,
              servedBy: (isFunction && serving.get(keyOf({ queue, name }))) || [],
            }
          }),
        ),
      }
    },

    async register(
      queue: string,
      name: string,
      definition: WorkerDefinition,
      { preview = false }: { preview?: boolean } = {},
    ) {
      checkDefinition(definition, allowHosts)
      if (registry.local(queue, name)) isFunction(queue, name)
      if (preview) {
        if ((await registry.read(queue, name))?.isFunction) isFunction(queue, name)
        return unfitting(queue, name, definition)
      }
      const { rings, overtaken: is } = await registry.put(queue, name, definition)
      if (is !== undefined) isFunction(queue, name)
      await ring(rings)
      return shown(definition)
    },

    async update(queue: string, name: string, patch: WorkerPatch, { preview = false }: { preview?: boolean } = {}) {
      const found = await registry.read(queue, name)
      if (!found) throw new SidejobError('NOT_FOUND', `there is no class ${name} in queue ${queue}`)
      if (found.isFunction) isFunction(queue, name)
      const definition = patched(found.definition, opened(patch)) as WorkerDefinition
      checkPatched(definition)
      checkDefinition(definition, allowHosts)
      if (preview) return unfitting(queue, name, definition)
      const { rings, overtaken: is } = await registry.put(queue, name, definition, found.kept)
      if (is !== undefined) overtaken(name, found.definition, is)
      await ring(rings)
      return shown(definition)
    },

    async unregister(queue: string, name: string) {
      const { rings } = await registry.remove(queue, name)
      await ring(rings)
      const serving = byClass(await store.deployments()).get(keyOf({ queue, name })) ?? []
      await store.forgetAnnounced(serving.map(({ id }) => id))
    },
  }
}
