import { coveredText } from '../../words/json.ts'
import { many } from '../../words/text.ts'
import { button, made } from '../app/page.ts'
import { type Tried, tryWire } from './api.ts'
import { ask } from './ask.ts'
import { type Graph, spliced } from './draft.ts'
import type { Editing } from './working.ts'

const LETTERS = 120

type Found = { node: { queue: string; class: string }; ports: [string, string] }

/** @example classIn('shop/price') // { queue: 'shop', class: 'price' } */
export const classIn = (text: string): { queue: string; class: string } => {
  const at = text.indexOf('/')
  return at < 0 ? { queue: 'default', class: text } : { queue: text.slice(0, at), class: text.slice(at + 1) }
}

const portIn = (ports: readonly string[] = [], usual: string): string =>
  ports.includes(usual) ? usual : (ports[0] ?? usual)

const shown = (value: unknown): string => {
  const text = JSON.stringify(value)
  return `${coveredText(text, LETTERS)}${text.length > LETTERS ? '…' : ''}`
}

function lineOf({ in: value, out, note }: Tried): string {
  const written = Object.entries(out).flatMap(([port, values]) => values.map((one) => `${port} ${shown(one)}`))
  return `${shown(value)} → ${[...written, ...(note ? [`! ${note}`] : [])].join(', ') || 'nothing'}`
}

export function askSplice(
  { job, classes }: Editing,
  graph: Graph,
  wire: string,
  check: (name: string) => string | undefined,
  become: (next: Graph) => void,
): void {
  const find = (of: string): Found => {
    const ports = classes.find(({ name }) => name === of)
    return { node: classIn(of), ports: [portIn(ports?.ins, 'in'), portIn(ports?.outs, 'out')] }
  }

  const dry = (given: () => Record<string, string>): readonly Node[] => {
    const said = made('p', { className: 'note', role: 'status' })
    const lines = made('pre', { className: 'difft', tabIndex: 0, hidden: true })
    const dryRun = button('Dry run on the last values', '', () => void run())

    async function run(): Promise<void> {
      const { node, ports } = find(given().of ?? '')
      dryRun.disabled = true
      const result = await tryWire(job, wire, { ...node, in: ports[0] }).catch(() => ({
        error: { message: 'No response. Try again.' },
      }))
      dryRun.disabled = false
      const runs = result.error ? [] : result.runs
      said.textContent = result.error?.message ?? `${many(runs.length, 'value')}, oldest first; nothing is saved`
      lines.textContent = runs.map(lineOf).join('\n')
      lines.hidden = runs.length === 0
    }

    const note =
      'A dry run executes the class on up to 20 values. It stops at the first step and discards all writes. Requests that the code sends outside steps are really sent.'
    return [made('p', { className: 'note' }, note), dryRun, said, lines]
  }

  const fields = [
    { name: 'of', label: 'Queue/class', options: classes.map(({ name }) => name) },
    { name: 'name', label: 'Name of the node' },
  ]
  const take = ({ name = '', of = '' }: Record<string, string>): string | undefined => {
    const wrong = check(name)
    if (wrong) return wrong
    const { node, ports } = find(of)
    become(spliced(graph, wire, name, node, ports))
    return undefined
  }
  ask(`Splice a node into ${wire}`, 'Splice', fields, take, dry)
}

export function dropsSplice(svg: SVGSVGElement, splice: (wire: string) => void): void {
  const wireAt = ({ target }: DragEvent) => (target as Element).closest<SVGElement>('[data-wire]')?.dataset.wire
  svg.addEventListener('dragover', (event) => wireAt(event) !== undefined && event.preventDefault())
  svg.addEventListener('drop', (event) => {
    const wire = wireAt(event)
    if (wire === undefined) return
    event.preventDefault()
    splice(wire)
  })
}
