// Reads JSON without rounding long numbers, if the browser can.

type Raw = typeof JSON & { rawJSON?: (text: string) => unknown }
type Reviver = (name: string, value: unknown, context?: { source?: string }) => unknown

const json = JSON as Raw

const keeps: Reviver = (_, value, context) =>
  typeof value === 'number' && context?.source !== undefined && json.rawJSON && String(value) !== context.source
    ? json.rawJSON(context.source)
    : value

export const exact = <Value>(text: string): Value =>
  JSON.parse(text, keeps as Parameters<typeof JSON.parse>[1]) as Value
