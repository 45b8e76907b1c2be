// Reads JSON without rounding long numbers, if the browser can.

type Raw = typeof JSON & { rawJSON?: (text: string) => unknown }
type Reviver = (name: string, value: unknown, context?: { source?: string }) => unknown

const json = JSON as Raw

const keeps: Reviver = (_, value, context) =>
  typeof value === 'number' && context?.source !== undefined && json.rawJSON && String(value) !== context.source
    ? json.rawJSON(context.source)
    : value

/** @example exact('{"id":12345678901234567890}') // written again it has all its digits */
export const exact = <Value>(text: string): Value =>
  JSON.parse(text, keeps as Parameters<typeof JSON.parse>[1]) as Value
