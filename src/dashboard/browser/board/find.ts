import { ask } from './ask.ts'
import type { Drawing } from './draw.ts'
import type { Box, Layout } from './layout.ts'
import type { View } from './view.ts'

export type FoundNode = { name: string; queue: string; class: string; job?: number | null }
type Board = { laid: Layout; drawing: Drawing; nodes: readonly FoundNode[] }
type Found = { texts: string[]; box: Box; focus: () => void }

const isIn = (text: string, found: Found): boolean => found.texts.some((one) => one.toLowerCase().includes(text))

/** When called again, offers the last text and moves to the next match. */
export function createFind(view: View, board: () => Board): () => void {
  let [last, next] = ['', 0]

  function all({ laid, drawing, nodes }: Board): Found[] {
    const placed = nodes.flatMap(({ name, queue, class: of, job }) => {
      const box = laid.nodes.get(name)?.box
      const texts = [name, `${queue}/${of}`, job ? `#${job}` : '']
      return box ? { texts, box, focus: () => drawing.nodeAt(name)?.focus() } : []
    })
    const wires = [...laid.wires].map(([id, { middle }]) => ({
      texts: [id],
      box: { ...middle, width: 0, height: 0 },
      focus: () => drawing.wireAt(id)?.focus(),
    }))
    return [...placed, ...wires]
  }

  function take(text: string): string | undefined {
    const wanted = text.toLowerCase()
    const found = all(board()).filter((one) => isIn(wanted, one))
    const isExact = ({ texts }: Found) => Number(texts.includes(text))
    const matches = found.toSorted((a, b) => isExact(b) - isExact(a))
    if (matches.length === 0) return `no node or wire has ${JSON.stringify(text)} in its name, class or job`
    next = text === last ? (next + 1) % matches.length : 0
    last = text
    const { box, focus } = matches[next]!
    // Wait, because a closing dialog returns the focus, and the board follows the focus.
    setTimeout(() => {
      view.look(box)
      focus()
    }, 50)
    return undefined
  }

  return () => {
    const options = [...new Set(all(board()).flatMap(({ texts }) => texts.filter(Boolean)))]
    const field = { name: 'text', label: 'Node name, class or #job, or wire name', options, value: last }
    ask('Find', 'Show', [field], ({ text = '' }) => take(text))
  }
}
