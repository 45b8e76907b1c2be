import { writeJson } from '../../../core/codec/json-writer.ts'
import { graphText } from '../../../core/graph.ts'
import type { FlowView, WorkerDefinition } from '../../../engine/engine.ts'
import { asset as board } from '../../built/board-js.generated.ts'
import { asset as style } from '../../built/flow-css.generated.ts'
import { useLook } from '../../look.ts'
import { page } from '../../page.ts'
import { LinkButton, useRefusal } from '../../parts/act.tsx'
import { Icon, JobId } from '../../parts/layout.tsx'
import type { LimitRoom } from '../../words/flow.ts'
import { knownWorkers } from '../jobs/filter.tsx'
import { Board, type Lines, Modes } from './board.tsx'
import { roomsOf } from './load.ts'

type Class = { queue: string; class: string } & WorkerDefinition
type EditData = { view: FlowView; classes: Class[]; limits: Record<string, LimitRoom> }

const CLASSES = 500

const portsOf = (ports: WorkerDefinition['in'] = {}): string[] => Object.keys(ports).filter((port) => port !== '*')

const dataOf = ({ view, classes, limits }: EditData, zone: string): string =>
  writeJson({
    job: view.flow.id,
    hash: view.hash,
    changedAt: view.flow.changedAt,
    zone,
    graph: view.graph ? graphText(view.graph) : '{"nodes":{},"edges":[],"inports":{},"outports":{}}',
    nodes: view.nodes,
    limits,
    wires: view.wires.map((wire) => ({ ...wire, oldest: null, passed: [] })),
    classes: classes.slice(0, CLASSES).map(({ queue, class: name, in: ins, out: outs }) => ({
      name: `${queue}/${name}`,
      ins: portsOf(ins),
      outs: portsOf(outs),
    })),
  })

const tools = [
  ['node', 'plus', 'Node', 'n'],
  ['wire', 'branch', 'Wire', 'w'],
  ['splice', 'move', 'Splice', 's'],
  ['remove', 'x', 'Delete'],
] as const

const MODES = [
  ['drawing', 'Drawing'],
  ['json', 'JSON'],
] as const

function Bar({ view: { flow } }: { view: FlowView }) {
  return (
    <div class="flowbar">
      <h1>{flow.name}</h1>
      <JobId id={flow.id} />
      <span class="tag">draft</span>
      <Modes label="Form" data="edit" of={MODES} on="drawing" />
      <div class="right">
        {tools.map(([name, icon, word, key]) => (
          <button
            class="btn"
            type="button"
            data-edit={name}
            data-hotkey={key}
            draggable={name === 'splice'}
            disabled={name === 'remove'}
          >
            <Icon name={icon} size={14} />
            {word}
            <kbd>{key ?? 'Del'}</kbd>
          </button>
        ))}
        <button class="btn" type="button" data-edit="back" title="Undo (ctrl z)" disabled>
          <Icon name="undo" size={14} />
          Undo
        </button>
      </div>
    </div>
  )
}

function Panel({ flow }: { flow: number }) {
  const off = useRefusal('write')
  return (
    <aside class="insp" aria-label="Preview of the change" id="would" data-island="would">
      <header aria-live="polite">
        <p class="note">Preview: nothing is applied yet</p>
        <p class="row title">Nothing has changed</p>
        {off && <p class="note">Read-only: Apply changes {off}.</p>}
      </header>
      <div class="would" />
      <section class="applybox">
        <button class="btn primary" type="button" data-edit="apply" disabled title={off}>
          Apply changes<kbd>ctrl ↵</kbd>
        </button>
        <LinkButton to={`/flows/${flow}`}>Close</LinkButton>
      </section>
      <section>
        <p class="note">
          To add a wire, drag from port to port, or choose Wire. Select a node or a wire, then choose Delete. Changes
          apply together or not at all, and can be undone on the page of the flow.
        </p>
      </section>
    </aside>
  )
}

const LINES: Lines = [
  ['add', 'new'],
  ['cut', 'cut'],
]

function View({ data }: { data: EditData }) {
  const { view } = data
  const { zone, now } = useLook()
  return (
    <>
      <Bar view={view} />
      <div hidden data-editing={dataOf(data, zone)} />
      <time hidden data-clock>
        {String(now)}
      </time>
      <div class="flowbody editing">
        <Board label="The graph being edited" lines={LINES}>
          <textarea class="field mono json" id="json" aria-label="The graph as JSON" spellcheck={false} hidden />
        </Board>
        <Panel flow={view.flow.id} />
      </div>
      <section class="replaybox" id="lines" aria-label="The change as text" data-island="lines" hidden>
        <div class="rhead">
          <h2>As text</h2>
          <span class="dim clip" />
        </div>
        <pre class="difft" tabindex={0} />
      </section>
    </>
  )
}

export const edit = page({
  path: '/flows/:job/edit',
  nav: 'flows',
  every: 10_000,
  slim: true,
  scripts: [board.name],
  styles: [style.name],
  async load(asked) {
    const { engine, params, cache } = asked
    const [view, { workers }, { limits }] = await Promise.all([
      engine.flows.get(params.job!),
      knownWorkers(asked),
      cache.bounds(),
    ])
    return { view, classes: workers, limits: roomsOf(view, limits) }
  },
  title: ({ view }) => `Edit ${view.flow.name}`,
  crumbs: ({ view: { flow } }) => [{ name: flow.name, to: `/flows/${flow.id}` }, { name: 'Edit' }],
  View,
})
