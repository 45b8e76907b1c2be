import { decodeValue, type Encoded } from './codec/value.ts'
import { hexHash } from './hash.ts'
import { canonical } from './json-schema/index.ts'
import { jsonSchemaOf } from './json-schema/zod.ts'
import { mapValues } from './map-values.ts'
import { type Worker, workerDefaults } from './worker.ts'

type Ports = Record<string, { schema?: Encoded }>
export type Schemas = { args?: Encoded; result?: Encoded; in?: Ports; out?: Ports }

const plainOf = (schema: Encoded | undefined): unknown => (schema === undefined ? undefined : decodeValue(schema))

const ofPorts = (ports: Ports = {}) => mapValues(ports, ({ schema }) => plainOf(schema))

const hasSchema = ({ args, result, in: inputs = {}, out = {} }: Schemas): boolean =>
  args !== undefined ||
  result !== undefined ||
  [...Object.values(inputs), ...Object.values(out)].some(({ schema }) => schema !== undefined)

export const schemaHash = (schemas: Schemas): string | undefined =>
  hasSchema(schemas)
    ? hexHash(
        canonical({
          args: plainOf(schemas.args),
          result: plainOf(schemas.result),
          in: ofPorts(schemas.in),
          out: ofPorts(schemas.out),
        }),
        2,
      )
    : undefined

const described = (ports: Worker['in'] = {}): Ports =>
  mapValues(ports, ({ schema }) => ({ schema: jsonSchemaOf(schema) }))

export const hashOfFunction = ({ checked, args, result, in: inputs, out }: Worker): string | undefined =>
  checked === 'run'
    ? undefined
    : schemaHash({
        args: jsonSchemaOf(args),
        result: jsonSchemaOf(result),
        in: described(inputs),
        out: described(out),
      })

/**
 * Returns the schema hashes of all classes, for `createClient({ schemas })`.
 *
 * @example schemasOf(functions) // { 'default/double': '5f0c2f1f0a8c61d7' }
 */
export const schemasOf = (functions: readonly Worker[]): Record<string, string> =>
  Object.fromEntries(
    functions.flatMap((worker) => {
      const hash = hashOfFunction(worker)
      return hash === undefined ? [] : [[`${worker.queue ?? workerDefaults.queue}/${worker.class}`, hash]]
    }),
  )
