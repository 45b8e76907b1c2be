import { useLook } from '../look.ts'
import { type Range, ranges } from '../words/series.ts'
import { Choice } from './layout.tsx'

export const RangeChoice = ({ range }: { range: Range }) => (
  <Choice
    label="Range"
    options={ranges.map(({ name, text }) => ({
      text,
      to: `${useLook().here.split('?')[0]}?range=${name}`,
      on: name === range.name,
    }))}
  />
)
