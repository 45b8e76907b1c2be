// Claimed jobs, as the scripts answer them.

import type { Encoded } from '../core/codec/value.ts'
import { SidejobError } from '../core/errors.ts'
import { decodeRecord, ownInputsOf } from './record.ts'
import type { ClaimedJob, EndedChild, RawWiring } from './types.ts'
import { opening, showing, type Vault } from './vault.ts'

type RawHeir = [string, string, string, EndedChild['how'], string, string]
export type RawLent = [
  string,
  [string, string[]][]?,
  string[]?,
  string[]?,
  string[]?,
  number?,
  RawHeir[]?,
  RawWiring[]?,
  string?,
  string?,
]

export function lentOf(
  [text, inputs = [], side, children = [], steps = [], childCount = 0, family = [], wires = [], more, fault]: RawLent,
  vault: Vault,
): ClaimedJob {
  const { open } = vault
  const document = decodeRecord(text, side, opening(vault))
  const id = Number(document.token!.slice(0, document.token!.indexOf('.')))
  const heirs = family.map((heir) => heirOf(heir, vault))
  return {
    ...{
      id,
      document,
      children,
      steps: steps.map((word, i) => (i % 2 === 0 ? word : open(word))),
      family: heirs,
      wires,
    },
    inputs: {
      ...ownInputsOf(document),
      ...Object.fromEntries(inputs.map(([port, items]) => [port, items.map(open)])),
    },
    childCount: Number(childCount),
    ...(more ? { moreSteps: true as const } : {}),
    ...(fault
      ? { fault: { code: fault.slice(0, fault.indexOf(' ')), message: fault.slice(fault.indexOf(' ') + 1) } }
      : {}),
  }
}

/** What cannot be read is that job's fault alone. */
export function lentOrFault(row: RawLent, vault: Vault): ClaimedJob {
  try {
    return lentOf(row, vault)
  } catch (error) {
    const document = decodeRecord(row[0], [], showing(vault))
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
export const withSide = (jobs: ClaimedJob[], rows: RawLent[]): ClaimedJob[] =>
  jobs.filter((_, i) => rows[i]![2]?.length)

const heirOf = ([name, id, className, how, args, left]: RawHeir, { open, showParts }: Vault): EndedChild => ({
  ...{ id: Number(id), name, class: className, how },
  args: args === '' ? null : (open(args) as Encoded),
  left: left === '' ? null : (showParts(open(left)) as Encoded),
})
