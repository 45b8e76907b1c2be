// Labels of a job, as links.

import type { Labels } from '../../core/labels.ts'
import { To } from './layout.tsx'
import { Name } from './name.tsx'

export const LabelTags = ({ labels }: { labels: Labels }) => (
  <>
    {Object.entries(labels).map(([name, value]) => (
      <>
        {' '}
        <To kind="tag" to={`/jobs?${new URLSearchParams({ [`labels.${name}`]: value })}`}>
          <Name of={`${name}=${value}`} most={30} />
        </To>
      </>
    ))}
  </>
)
