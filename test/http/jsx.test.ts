import { expect, test } from 'vitest'
import { Fragment, html as htmlOf, jsx, raw } from '../../src/http/jsx-runtime.ts'

const html = (tag: Parameters<typeof jsx>[0], props: Parameters<typeof jsx>[1]): string => String(jsx(tag, props))

test('text and attributes from users are escaped, and raw HTML is not', () => {
  const hostile = `"><script>'&`
  const escaped = '&quot;&gt;&lt;script&gt;&#39;&amp;'
  expect(html('p', { title: hostile, children: hostile })).toBe(`<p title="${escaped}">${escaped}</p>`)
  expect(html('p', { children: raw('<b>') as never })).toBe('<p><b></p>')
  expect(String(htmlOf`<p title="${hostile}">${[hostile, raw('<b>'), undefined]}</p>`)).toBe(
    `<p title="${escaped}">${escaped}<b></p>`,
  )
})

test('elements in components, fragments and lists are rendered in their order', () => {
  const Item = ({ children }: { children?: unknown }) => jsx('li', { children: children as never })
  const items = [1, 'two'].map((children) => jsx(Item, { children }))
  const fragment = jsx(Fragment, { children: [items, false, null, undefined, jsx('br', {})] as never })
  expect(html('ul', { children: fragment as never })).toBe('<ul><li>1</li><li>two</li><br/></ul>')
})

test.each([
  [{ hidden: true }, '<i hidden=""></i>'],
  [{ hidden: false, title: undefined, id: null }, '<i></i>'],
  [{ 'aria-pressed': false, draggable: true }, '<i aria-pressed="false" draggable="true"></i>'],
  [{ tabindex: -1, class: '' }, '<i tabindex="-1" class=""></i>'],
])('%o become the attributes of %s', (props, expected) => {
  expect(html('i', props)).toBe(expected)
})

test('a component is called after the elements that contain it', () => {
  let isInside = false
  const Outer = ({ children }: { children?: unknown }) => {
    isInside = true
    return children
  }
  const inner = jsx(() => String(isInside), {})
  expect(html(Outer, { children: inner as never })).toBe('true')
})
