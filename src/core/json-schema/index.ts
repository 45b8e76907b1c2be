// Callers send schemas, so neither a schema nor a value may make a check slow.

import { counted } from '../counted.ts'
import type { Spend } from './pattern.ts'
import { CheckedSchema, found, isMap, type Keywords, kinds, type Path, parts, type Schema, shown } from './schema.ts'

export type Fault = { path: Path; message: string }

const isType = (value: unknown, type: string): boolean => {
  if (type === 'integer') return typeof value === 'bigint' || Number.isInteger(value)
  if (type === 'number') return typeof value === 'number' || typeof value === 'bigint'
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  return type === 'object' ? isMap(value) : typeof value === type
}

export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === 'bigint'
      ? Number(inner)
      : isMap(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
  )

const isShared = (schema: Keywords): boolean =>
  parts.filter((word) => word in schema).length > 1 || ((schema.allOf as Schema[] | undefined)?.length ?? 0) > 1

function outside(n: number, min: unknown, max: unknown, unit: string): string | undefined {
  if (n < Number(min)) return `at least ${counted(Number(min), unit)}`
  return n > Number(max) ? `at most ${counted(Number(max), unit)}` : undefined
}

function countFault(n: number, [min, max]: unknown[], unit: string, path: Path, which = ''): Fault | undefined {
  const wanted = outside(n, min, max, unit)
  return wanted ? { path, message: `expected ${wanted}${which}, got ${n}` } : undefined
}

class TooMuch extends Error {}

const ENOUGH = { steps: 2_000, perByte: 4, depth: 256 }

class Look {
  readonly #root: Schema
  readonly #patterns: CheckedSchema['patterns']
  #isStrict: boolean
  #left: number
  #depth = 0

  constructor(root: Schema, patterns: CheckedSchema['patterns'], bytes: number, isStrict: boolean) {
    this.#root = root
    this.#patterns = patterns
    this.#left = ENOUGH.steps + ENOUGH.perByte * bytes
    this.#isStrict = isStrict
  }

  readonly #spend: Spend = (steps) => {
    this.#left -= steps
    if (this.#left < 0) throw new TooMuch()
  }

  fault(schema: Schema, value: unknown, path: Path): Fault | undefined {
    this.#spend(1)
    if (typeof schema === 'boolean')
      return schema ? undefined : { path, message: `expected no value here, got ${shown(value)}` }
    if (++this.#depth > ENOUGH.depth) throw new TooMuch()
    const fault =
      this.#kind(schema, value, path) ?? this.#parts(schema, value, path) ?? this.#every(schema, value, path)
    this.#depth--
    return fault
  }

  #kind(schema: Keywords, value: unknown, path: Path): Fault | undefined {
    const { type, enum: values } = schema
    const wrong = (expected: string) => ({ path, message: `expected ${expected}, got ${shown(value)}` })
    if (type !== undefined) {
      const types = [type].flat() as string[]
      if (!types.some((name) => isType(value, name))) return wrong(types.map((name) => kinds[name]).join(' or '))
    }
    const options = values ?? ('const' in schema ? [schema.const] : undefined)
    if (options) {
      const is = canonical(value)
      const all = (options as unknown[]).map(canonical)
      this.#spend(all.length)
      if (!all.includes(is)) return wrong(all.length > 10 ? `one of ${all.length} values` : all.join(' or '))
    }
    if (typeof value === 'number' || typeof value === 'bigint') return this.#number(schema, Number(value), wrong)
    return typeof value === 'string' ? this.#text(schema, value, wrong) : undefined
  }

  #number(schema: Keywords, n: number, wrong: (expected: string) => Fault): Fault | undefined {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema as Record<string, number>
    if (n < minimum!) return wrong(`at least ${minimum}`)
    if (n > maximum!) return wrong(`at most ${maximum}`)
    if (n <= exclusiveMinimum!) return wrong(`more than ${exclusiveMinimum}`)
    if (n >= exclusiveMaximum!) return wrong(`less than ${exclusiveMaximum}`)
    const times = multipleOf === undefined ? 0 : n / multipleOf
    return Math.abs(times - Math.round(times)) > 1e-9 ? wrong(`a multiple of ${multipleOf}`) : undefined
  }

  #text(schema: Keywords, text: string, wrong: (expected: string) => Fault): Fault | undefined {
    const { minLength, maxLength, pattern } = schema as { minLength?: number; maxLength?: number; pattern?: string }
    const length = minLength === undefined && maxLength === undefined ? 0 : [...text].length
    const size = outside(length, minLength, maxLength, 'character')
    if (size) return wrong(size)
    if (pattern === undefined || this.#matches(pattern, text)) return undefined
    return wrong(`a string that matches ${pattern}`)
  }

  #matches(pattern: string, text: string): boolean {
    return this.#patterns.get(pattern)?.(text, this.#spend) ?? true
  }

  #parts(schema: Keywords, value: unknown, path: Path): Fault | undefined {
    if (Array.isArray(value)) return this.#items(schema, value, path)
    return isMap(value) ? this.#members(schema, value, path) : undefined
  }

  #items(schema: Keywords, items: unknown[], path: Path): Fault | undefined {
    const {
      prefixItems = [],
      items: rest = true,
      contains,
      minContains = 1,
      maxContains,
    } = schema as {
      prefixItems?: Schema[]
      items?: Schema
      contains?: Schema
      minContains?: number
      maxContains?: number
    }
    const size = countFault(items.length, [schema.minItems, schema.maxItems], 'item', path)
    if (size) return size
    if (schema.uniqueItems && new Set(items.map(canonical)).size < items.length)
      return { path, message: 'expected unique items, got duplicates' }
    for (const [i, item] of items.entries()) {
      const fault = this.fault(prefixItems[i] ?? rest, item, [...path, i])
      if (fault) return fault
    }
    if (contains === undefined) return undefined
    const n = this.#loosely(() => items.filter((item, i) => !this.fault(contains, item, [...path, i])).length)
    return countFault(n, [minContains, maxContains], 'item', path, ' matching "contains"')
  }

  #members(schema: Keywords, value: Record<string, unknown>, path: Path): Fault | undefined {
    const { required = [], dependentRequired = {} } = schema as {
      required?: string[]
      dependentRequired?: Record<string, string[]>
    }
    const names = Object.keys(value)
    const wanted = [
      ...required,
      ...names.flatMap((name) => (Object.hasOwn(dependentRequired, name) ? dependentRequired[name]! : [])),
    ]
    this.#spend(wanted.length)
    const missing = wanted.find((name) => !Object.hasOwn(value, name))
    if (missing !== undefined) return { path: [...path, missing], message: 'is missing' }
    const size = countFault(names.length, [schema.minProperties, schema.maxProperties], 'member', path)
    if (size) return size
    for (const name of names) {
      const fault = this.#member(schema, name, value[name], [...path, name])
      if (fault) return fault
    }
    return undefined
  }

  #member(schema: Keywords, name: string, value: unknown, path: Path): Fault | undefined {
    const {
      properties = {},
      patternProperties = {},
      additionalProperties = !(this.#isStrict && 'properties' in schema && !isShared(schema)),
      propertyNames = true,
    } = schema as {
      properties?: Record<string, Schema>
      patternProperties?: Record<string, Schema>
      additionalProperties?: Schema
      propertyNames?: Schema
    }
    if (this.fault(propertyNames, name, path)) return { path, message: 'this member name is not allowed' }
    const own = Object.hasOwn(properties, name) ? [properties[name]!] : []
    const like = Object.entries(patternProperties).flatMap(([text, one]) => (this.#matches(text, name) ? [one] : []))
    const all = [...own, ...like]
    if (all.length === 0) {
      if (additionalProperties === false) return { path, message: 'unknown member' }
      return this.fault(additionalProperties, value, path)
    }
    return this.#first(all, value, path)
  }

  #first(all: readonly Schema[], value: unknown, path: Path): Fault | undefined {
    for (const one of all) {
      const fault = this.fault(one, value, path)
      if (fault) return fault
    }
    return undefined
  }

  #ways(schema: Keywords, value: unknown, path: Path): Fault | undefined {
    const { $ref, allOf = [], anyOf, oneOf, not } = schema as Record<string, Schema[]> & { $ref?: string; not?: Schema }
    const all = [
      ...($ref === undefined ? [] : [found(this.#root, $ref)!]),
      ...allOf!,
      ...this.#conditional(schema, value, path),
    ]
    const fault = this.#first(all, value, path)
    if (fault) return fault
    if (not !== undefined && !this.#loosely(() => this.fault(not, value, path)))
      return { path, message: `expected a value that does not match the schema of "not", got ${shown(value)}` }
    return (anyOf && this.#some(anyOf, value, path, false)) ?? (oneOf && this.#some(oneOf, value, path, true))
  }

  #every(schema: Keywords, value: unknown, path: Path): Fault | undefined {
    const ways = () => this.#ways(schema, value, path)
    return isShared(schema) ? this.#loosely(ways) : ways()
  }

  #loosely<T>(look: () => T): T {
    const isStrict = this.#isStrict
    this.#isStrict = false
    const found = look()
    this.#isStrict = isStrict
    return found
  }

  #conditional(schema: Keywords, value: unknown, path: Path): Schema[] {
    if (schema.if === undefined) return []
    const branch = this.#loosely(() => this.fault(schema.if as Schema, value, path)) ? schema.else : schema.then
    return branch === undefined ? [] : [branch as Schema]
  }

  #some(forms: Schema[], value: unknown, path: Path, isOnly: boolean): Fault | undefined {
    const faults = forms.map((form) => this.fault(form, value, path))
    const fitting = faults.filter((fault) => !fault).length
    if (fitting === 1 || (fitting > 1 && !isOnly)) return undefined
    if (fitting > 1)
      return {
        path,
        message: `expected a value that matches exactly one of ${forms.length} schemas, got ${shown(value)}, which matches ${fitting}`,
      }
    const deepest = (faults as Fault[]).toSorted((a, b) => b.path.length - a.path.length)
    if (deepest.length === 1 || deepest[0]!.path.length > (deepest[1]?.path.length ?? 0)) return deepest[0]
    return { path, message: `expected a value that matches one of ${forms.length} schemas, got ${shown(value)}` }
  }
}

export type Check = (value: unknown, bytes: number) => Fault | undefined

/** `lenient` ignores unknown keywords in stored schemas. `strict` refuses members that the schema does not name. */
export function checkOf(schema: unknown, { lenient = false, strict = false } = {}): Check {
  const { patterns } = new CheckedSchema(schema, lenient)
  return (value, bytes) => {
    try {
      return new Look(schema as Schema, patterns, bytes, strict).fault(schema as Schema, value, [])
    } catch (error) {
      if (error instanceof TooMuch) return { path: [], message: 'takes too long to check: expected a simpler value' }
      throw error
    }
  }
}
