import { parseJson } from '../../core/codec/json.ts'
import { writeJson } from '../../core/codec/json-writer.ts'
import type { Encoded } from '../../core/codec/value.ts'
import { mapValues } from '../../core/map-values.ts'
import { present } from '../../core/present.ts'
import { MAX_RECORDED_BYTES, recordedRun, type StoredRun } from '../../core/recorded.ts'
import type { Changes, Snapshot } from '../../core/run.ts'
import { closedIn, places } from '../../core/schemas.ts'
import type { Worker } from '../../core/worker.ts'
import { beyondSnapshot, type JobTools } from './tools.ts'

const shape = places(recordedRun)
const closedParts = closedIn(recordedRun)

export const keepsValues = ({ history }: Worker): boolean => typeof history === 'object' && history.values

type Beyond = keyof typeof beyondSnapshot

export class Recording {
  readonly #snapshot: Snapshot
  readonly #commits: Changes[] = []
  #more: string | undefined

  constructor(snapshot: Snapshot) {
    this.#snapshot = snapshot
  }

  watched(tools: JobTools): JobTools {
    const noting =
      (what: string, name: Beyond) =>
      (...asked: unknown[]) => {
        this.#more ??= what
        return (tools[name] as (...asked: unknown[]) => unknown)(...asked)
      }
    return {
      ...(mapValues(beyondSnapshot, (what, name) => noting(what, name as Beyond)) as Pick<JobTools, Beyond>),
      checkpoint: (changes) => {
        this.#commits.push(changes)
        return tools.checkpoint(changes)
      },
      progress: (value) => tools.progress(value),
      now: () => tools.now(),
      namespace: tools.namespace,
      env: tools.env,
      trace: tools.trace,
    }
  }

  text(end: Changes): Encoded {
    if (this.#more !== undefined) return writeJson({ more: this.#more }) as Encoded
    const text = writeJson(present(shape, { snapshot: this.#snapshot, commits: [...this.#commits, end] }))
    return (text.length <= MAX_RECORDED_BYTES ? text : writeJson({ bytes: text.length })) as Encoded
  }
}

export const storedRunIn = (text: string): StoredRun => parseJson(text, closedParts) as StoredRun
