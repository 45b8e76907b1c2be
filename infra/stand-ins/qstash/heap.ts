export type Node<T> = { item: T; slot: number }

export function createHeap<T>(before: (a: T, b: T) => boolean) {
  const nodes: Node<T>[] = []

  return {
    get size() {
      return nodes.length
    },

    first(): T | undefined {
      return nodes[0]?.item
    },

    push(item: T): Node<T> {
      const node = { item, slot: nodes.length }
      nodes.push(node)
      rise(node)
      return node
    },

    shift(): T | undefined {
      const first = nodes[0]
      if (first) this.remove(first)
      return first?.item
    },

    remove(node: Node<T>): void {
      if (nodes[node.slot] !== node) return
      const last = nodes.pop()!
      if (last === node) return
      put(last, node.slot)
      rise(last)
      sink(last)
    },
  }

  function rise(node: Node<T>) {
    while (node.slot > 0) {
      const parent = nodes[(node.slot - 1) >> 1]!
      if (!before(node.item, parent.item)) return
      swap(node, parent)
    }
  }

  function sink(node: Node<T>) {
    for (;;) {
      const left = nodes[2 * node.slot + 1]
      const right = nodes[2 * node.slot + 2]
      const child = right && left && before(right.item, left.item) ? right : left
      if (!child || !before(child.item, node.item)) return
      swap(node, child)
    }
  }

  function swap(a: Node<T>, b: Node<T>) {
    const slot = a.slot
    put(a, b.slot)
    put(b, slot)
  }

  function put(node: Node<T>, slot: number) {
    node.slot = slot
    nodes[slot] = node
  }
}
