import { parseJson } from '../../core/codec/json.ts'
import { writeJson } from '../../core/codec/json-writer.ts'
import type { Encoded } from '../../core/codec/value.ts'
import { present } from '../../core/present.ts'
import { MOST_RECORDED, recordedRun, type StoredRun } from '../../core/recorded.ts'
import type { Changes, Snapshot } from '../../core/run.ts'
import { closedIn, places } from '../../core/schemas.ts'
import type { Worker } from '../../core/worker.ts'
import type { JobTools } from './tools.ts'

const shape = places(recordedRun)
const closedParts = closedIn(recordedRun)

export const keepsValues = ({ history }: Worker): boolean => typeof history === 'object' && history.values

const beyond = {
  page: 'more values of a port',
  peek: 'values of children',
  look: 'another job',
  storedGraph: 'a stored graph',
  steps: 'more steps',
  children: 'more children',
} as const

export class Recording {
  readonly #snapshot: Snapshot
  readonly #commits: Changes[] = []
  #more: string | undefined

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot
  }

  watched(tools: JobTools): JobTools {
    const noting =
      (name: keyof typeof beyond) =>
      (...asked: unknown[]) => {
        this.#more ??= beyond[name]
        return (tools[name] as (...asked: unknown[]) => unknown)(...asked)
      }
    const members = Object.keys(beyond).map((name) => [name, noting(name as keyof typeof beyond)])
    return {
      ...(Object.fromEntries(members) as Pick<JobTools, keyof typeof beyond>),
      checkpoint: (changes) => {
        this.#commits.push(changes)
        return tools.checkpoint(changes)
      },
      progress: (value) => tools.progress(value),
      now: () => tools.now(),
      namespace: tools.namespace,
      env: tools.env,
    }
  }

  text(end: Changes): Encoded {
    if (this.#more !== undefined) return writeJson({ more: this.#more }) as Encoded
    const text = writeJson(present(shape, { snapshot: this.#snapshot, commits: [...this.#commits, end] }))
    return (text.length <= MOST_RECORDED ? text : writeJson({ bytes: text.length })) as Encoded
  }
}

export const storedRunIn = (text: string): StoredRun => parseJson(text, closedParts) as StoredRun
