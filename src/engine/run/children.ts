import { decodeValue, type Encoded, encodeValue } from '../../core/codec/value.ts'
import { SidejobError } from '../../core/errors.ts'
import { ownProperty } from '../../core/own.ts'
import type { Snapshot } from '../../core/run.ts'
import type { RunBuffer } from './buffer.ts'
import type { JobTools } from './tools.ts'

export type ChildEnd = { result?: Encoded; error?: Encoded }

export class Children {
  readonly #buffer: RunBuffer
  readonly #tools: Pick<JobTools, 'children' | 'peek'>
  #seen = new Map<string, number>()

  constructor(buffer: RunBuffer, tools: Pick<JobTools, 'children' | 'peek'>) {
    this.#buffer = buffer
    this.#tools = tools
  }

  /** Reads the children from Redis if the snapshot does not contain all. A snapshot contains up to about 1,000. */
  async all(): Promise<Snapshot['children']> {
    this.#buffer.look()
    if (!this.#buffer.snapshot.moreChildren) return this.#buffer.snapshot.children
    const children = await this.#tools.children()
    this.#buffer.snapshot = { ...this.#buffer.snapshot, children, moreChildren: 0 }
    return children
  }

  async read<T>(port: string, which?: string[]): Promise<Record<string, T[]>> {
    this.#buffer.open()
    await this.#buffer.settled()
    const names = which ?? Object.keys(await this.all())
    if (names.some((name) => !ownProperty(this.#buffer.snapshot.children, name))) await this.all()
    const rows = await this.#tools.peek(names.map((name) => ({ id: this.#child(name).id, dir: 'out', port })))
    const answer: Record<string, T[]> = {}
    names.forEach((child, i) => {
      const values = rows[i] ? this.#fresh(child, port, rows[i]) : []
      if (values.length) answer[child] = values.map(({ data }) => decodeValue(data) as T)
    })
    return answer
  }

  end(child: string): ChildEnd | 'open' | undefined {
    const { family, children, moreChildren } = this.#buffer.snapshot
    const { finished = [], failed = [], cancelled = [] } = family ?? {}
    const ended = finished.find(({ name }) => name === child)
    if (ended) return { result: ended.result ?? encodeValue(null) }
    const broken = [...failed, ...cancelled].find(({ name }) => name === child)
    if (broken) return { error: broken.error ?? encodeValue({}) }
    return ownProperty(children, child) || moreChildren ? 'open' : undefined
  }

  clear(): void {
    this.#seen.clear()
  }

  #child(name: string): { id: number } {
    const child = ownProperty(this.#buffer.snapshot.children, name)
    if (!child)
      throw new SidejobError(
        'NOT_FOUND',
        `job ${this.#buffer.snapshot.job.id} had no child ${name} when this run last read its children`,
      )
    return child
  }

  #fresh(child: string, port: string, { taken, values }: { taken: number; values: { data: Encoded }[] }) {
    const key = `${port} ${child}`
    const seen = this.#seen.get(key) ?? 0
    const rest = values.slice(seen)
    this.#seen.set(key, seen + rest.length)
    if (rest.length)
      this.#buffer.op({ op: 'read', from: { child, out: port }, cursor: taken + seen, count: rest.length })
    return rest
  }
}
