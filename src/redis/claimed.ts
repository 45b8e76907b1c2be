// Claimed jobs, as the scripts answer them.

import type { Encoded } from '../core/codec/value.ts'
import { SidejobError } from '../core/errors.ts'
import type { Row } from './answers.ts'
import { decodeRecord, ownInputsOf } from './record.ts'
import type { ClaimedJob, EndedChild } from './types.ts'
import { opening, showing, type Vault } from './vault.ts'

export function lentOf(
  { document: text, inputs, side, steps, family, moreSteps, fault, ...lent }: Row<'lent'>,
  vault: Vault,
): ClaimedJob {
  const { open } = vault
  const document = decodeRecord(text, side, opening(vault))
  const id = Number(document.token!.slice(0, document.token!.indexOf('.')))
  return {
    ...{
      id,
      document,
      ...lent,
      steps: steps.map((word, i) => (i % 2 === 0 ? word : open(word))),
      family: family.map((heir) => heirOf(heir, vault)),
    },
    inputs: {
      ...ownInputsOf(document),
      ...Object.fromEntries(inputs.map(({ port, items }) => [port, items.map(open)])),
    },
    ...(moreSteps ? { moreSteps: true as const } : {}),
    ...(fault
      ? { fault: { code: fault.slice(0, fault.indexOf(' ')), message: fault.slice(fault.indexOf(' ') + 1) } }
      : {}),
  }
}

/** What cannot be read is that job's fault alone. */
export function lentOrFault(row: Row<'lent'>, vault: Vault): ClaimedJob {
  try {
    return lentOf(row, vault)
  } catch (error) {
    const document = decodeRecord(row.document, [], showing(vault))
    console.error(`sidejob: job ${document.token} cannot be read: ${error}`)
    const fault =
      error instanceof SidejobError
        ? { code: error.code, message: error.message }
        : { code: 'INTERNAL', message: 'what is kept of this job cannot be read: sidejob doctor says more' }
    const id = Number.parseInt(document.token!, 10)
    return { id, document, inputs: {}, children: [], steps: [], childCount: 0, family: [], wires: [], fault }
  }
}

/** Those of which something stands beside the record. */
export const withSide = (jobs: ClaimedJob[], rows: Row<'lent'>[]): ClaimedJob[] =>
  jobs.filter((_, i) => rows[i]!.side.length)

const heirOf = (
  { id, name, class: className, how, args, left }: Row<'heir'>,
  { open, showParts }: Vault,
): EndedChild => ({
  ...{ id, name, class: className, how: how as EndedChild['how'] },
  args: args === undefined ? null : (open(args) as Encoded),
  left: left === undefined ? null : (showParts(open(left)) as Encoded),
})
