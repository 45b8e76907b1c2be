import { type Range, ranges } from '../words/series.ts'
import { Choice } from './layout.tsx'

export const RangeChoice = ({ at, range }: { at: string; range: Range }) => (
  <Choice
    label="Range"
    options={ranges.map(({ name, text }) => ({ text, to: `${at}?range=${name}`, on: name === range.name }))}
  />
)
