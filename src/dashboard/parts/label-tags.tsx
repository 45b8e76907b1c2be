import type { Labels } from '../../core/labels.ts'
import { queryWith } from '../look.ts'
import { Name, To } from './layout.tsx'

export const LabelTags = ({ labels, also = '' }: { labels: Labels; also?: string }) => (
  <>
    {Object.entries(labels).map(([name, value]) => (
      <>
        {' '}
        <To kind="tag" to={`/jobs${queryWith(also, { [`labels.${name}`]: value })}`}>
          <Name of={`${name}=${value}`} most={30} />
        </To>
      </>
    ))}
  </>
)
