import { bytesOf } from './bytes.ts'
import { counted } from './counted.ts'
import { SidejobError } from './errors.ts'
import { limits } from './limits.ts'

/** Sorted by name, so that equal labels are equal strings. */
export type LabelsText = string & { readonly __labels: true }

export type Labels = Record<string, string>

const NAME = /^[A-Za-z_][\w.-]{0,39}$/

export const isLabelName = (text: string): boolean => NAME.test(text)

export const labelsText = (labels: Labels): LabelsText =>
  JSON.stringify(Object.fromEntries(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))) as LabelsText

export const readLabels = (text: string | undefined): Labels => (text === undefined ? {} : (JSON.parse(text) as Labels))

export const isLarge = (text: LabelsText): boolean => bytesOf(text) > limits.labelsBytes.most

export function mergedLabels(ofClass: Labels | undefined, own: LabelsText | undefined): LabelsText | undefined {
  if (!ofClass) return own
  const all = { ...ofClass, ...readLabels(own) }
  const text = labelsText(all)
  const count = Object.keys(all).length
  if (count <= limits.labels.most && !isLarge(text)) return count === 0 ? undefined : text
  throw new SidejobError(
    'BAD_REQUEST',
    `labels: expected at most ${limits.labels.most} labels and ${limits.labelsBytes.most} bytes, including the labels of the class, got ${counted(count, 'label')} and ${bytesOf(text)} bytes`,
    { path: ['labels'] },
  )
}
