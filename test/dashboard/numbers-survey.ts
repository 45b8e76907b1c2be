// Reads each text with a digit from a page, with the claims that cover it.

import type { Page } from 'playwright-core'

/**
 * Expected numbers by `selector` or `selector@attribute`, with any words between them. A row of a table is the text of its cells, joined by ` | `. Each
 * time is `~`, and titles with a digit are in braces.
 */
export type Claims = Record<string, readonly string[] | ((found: readonly string[]) => readonly string[])>

/** These are times, addresses and names, not counts. */
const none = [
  'time',
  'kbd',
  '.id',
  '.host',
  '.axis',
  '#live',
  'a[href*="?range="]',
  'a[href*="?view="]',
  '.crumbs [aria-current]',
  'a[href*="ended=6h"]',
  'th',
]

type Survey = { found: string[][]; unclaimed: string[]; twice: string[] }

const survey = (page: Page, selectors: string[], none: string[]): Promise<Survey> =>
  page.evaluate(
    ([selectors, none]) => {
      const named = ['title', 'aria-label']
      const short = (text: string | null) => (text ?? '').replace(/\s+/g, ' ').trim()
      const hasDigit = (text: string | null) => /\d/.test(text ?? '')
      const isCell = (one: Node) => one.nodeName === 'TD' || one.nodeName === 'TH'
      function say(node: Node): string {
        if (node instanceof Text) return node.data
        if (!(node instanceof Element) || node.matches('kbd, script, style, textarea')) return ''
        if (node.matches('time')) return '~'
        const titles = named.map((name) => node.getAttribute(name)).filter(hasDigit)
        const inner = node.nodeName === 'TR' ? [...node.childNodes].filter(isCell).map((one) => short(say(one))) : []
        const text = inner.length > 0 ? inner.join(' | ') : [...node.childNodes].map(say).join('')
        return [...new Set(titles)].map((title) => `{${title}}`).join('') + text
      }
      const where = (one: Element) => {
        const names: string[] = []
        for (let at: Element | null = one; at && at.id !== 'main' && names.length < 5; at = at.parentElement)
          names.unshift(`${at.localName}${at.id && `#${at.id}`}${[...at.classList].map((name) => `.${name}`).join('')}`)
        return names.join(' > ')
      }
      type Item = { text: string; at: Element; attribute?: string; claims: number; isNone?: boolean }
      const items: Item[] = []
      for (const at of document.body.querySelectorAll('*'))
        for (const attribute of named) {
          const text = short(at.getAttribute(attribute))
          if (hasDigit(text)) items.push({ text, at, attribute, claims: 0 })
        }
      const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const at = node.parentElement!
        if (hasDigit(node.nodeValue) && !at.closest('script, style, textarea, symbol'))
          items.push({ text: short(node.nodeValue), at, claims: 0 })
      }
      const claimed = (selector: string): [Element[], Item[], string | undefined] => {
        const [css, attribute] = selector.split('@') as [string, string | undefined]
        const elements = [...document.body.querySelectorAll(css)]
        const covers = (item: Item) =>
          attribute
            ? item.attribute === attribute && elements.includes(item.at)
            : elements.some((one) => one.contains(item.at))
        return [elements, items.filter(covers), attribute]
      }
      for (const selector of none) for (const item of claimed(selector)[1]) item.isNone = true
      const found = selectors.map((selector) => {
        const [elements, own, attribute] = claimed(selector)
        for (const item of own) item.claims++
        return elements.map((one) => short(attribute ? one.getAttribute(attribute) : say(one)))
      })
      const said = ({ text, at, attribute }: Item) => `${where(at)}${attribute ? `@${attribute}` : ''}: ${text}`
      return {
        found,
        unclaimed: items.filter(({ claims, isNone }) => claims === 0 && !isNone).map(said),
        twice: items.filter(({ claims }) => claims > 1).map(said),
      }
    },
    [selectors, none] as const,
  )

const NUMBER = /\d[\d,.]*(?: (?:ms|min|bytes|[smhdkM%])(?![a-z]))?/g

/** Words may change, so this compares only numbers, and a known name if a cell of a row begins with it. */
export function numbersOf(text: string | undefined, names: ReadonlySet<string>): string | undefined {
  const cells = text?.split(' | ').map((cell, _, all) => {
    const first = all.length > 1 ? cell.split(' ')[0]! : ''
    const numbers = (cell.match(NUMBER) ?? []).map((one) => one.replace(/[,.]+$/, ''))
    return [...(names.has(first) ? [first] : []), ...numbers].join(' ')
  })
  return cells?.join(' | ')
}

/** Differences between a page and its claims. */
export async function differences(page: Page, claims: Claims, names: ReadonlySet<string>): Promise<object> {
  const selectors = Object.keys(claims)
  const { found, unclaimed, twice } = await survey(page, selectors, none)
  const wrong: Record<string, object> = {}
  for (const [i, selector] of selectors.entries()) {
    const [shown, claim] = [found[i]!, claims[selector]!]
    const expected = typeof claim === 'function' ? claim(shown) : claim
    const pairs = Array.from({ length: Math.max(shown.length, expected.length) }, (_, at) => [shown[at], expected[at]])
    const differing = pairs.filter(([a, b]) => numbersOf(a, names) !== numbersOf(b, names))
    if (differing.length > 0) wrong[selector] = differing.map(([shown, expected]) => ({ shown, expected }))
  }
  const problems = { wrong, unclaimed: [...new Set(unclaimed)], twice: [...new Set(twice)] }
  return Object.fromEntries(Object.entries(problems).filter(([, found]) => Object.keys(found).length > 0))
}
