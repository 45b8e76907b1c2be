import type { Page } from 'playwright-core'
import { type Clock, isSame, saysTime, type Time } from './words.ts'

/**
 * Expected texts by `selector`, or by `selector@attribute`. In the texts, ` | ` separates the cells of a row. `@5`
 * means a `time` element with a time of 5 ms. Braces contain the attribute `title` of an element, if it has a digit.
 */
export type Claims = Record<string, readonly string[] | ((found: readonly string[]) => readonly string[])>

/** Digits in these elements belong to addresses and names, not to counts. */
const none = [
  'time:not([datetime])',
  'kbd',
  '#live',
  'a[href*="?range="]',
  'a[href*="?view="]',
  'a[href*="ended=6h"]',
  'th',
]

type Survey = { found: string[][]; times: Time[]; unclaimed: string[]; twice: string[] }

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
        if (node instanceof HTMLTimeElement && node.dateTime) return ` @${Date.parse(node.dateTime)} `
        const titles = named.map((name) => node.getAttribute(name)).filter(hasDigit)
        const inner = node.nodeName === 'TR' ? [...node.childNodes].filter(isCell).map((one) => short(say(one))) : []
        const text = inner.length > 0 ? inner.join(' | ') : [...node.childNodes].map(say).join('')
        const said = [...new Set(titles)].map((title) => `{${title}}`).join('') + text
        return node.matches('p, li, div') ? ` ${said} ` : said
      }
      const where = (one: Element) => {
        const names: string[] = []
        for (let at: Element | null = one; at && at.id !== 'main' && names.length < 5; at = at.parentElement)
          names.unshift(`${at.localName}${at.id && `#${at.id}`}${[...at.classList].map((name) => `.${name}`).join('')}`)
        return names.join(' > ')
      }
      type Item = { text: string; at: Element; attribute?: string; claims: number; isNone?: boolean }
      const items: Item[] = []
      for (const at of document.body.querySelectorAll(':not(time)'))
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
      const times = [...document.body.querySelectorAll<HTMLTimeElement>('time[datetime]')].map((one) => ({
        text: short(one.textContent),
        title: one.getAttribute('title'),
        at: Date.parse(one.dateTime),
      }))
      return {
        found,
        times,
        unclaimed: items.filter(({ claims, isNone }) => claims === 0 && !isNone).map(said),
        twice: items.filter(({ claims }) => claims > 1).map(said),
      }
    },
    [selectors, none] as const,
  )

/** Changes a number by more than any tolerance. */
const WRONG_PREFIX = '99999'

/** `from`: time before the page was opened. */
export async function differences(page: Page, claims: Claims, names: Set<string>, from: number): Promise<object> {
  const selectors = Object.keys(claims)
  const { found, times, unclaimed, twice } = await survey(page, selectors, none)
  const clock: Clock = { from, to: Date.now() }
  const compare = (selector: string, shown: readonly string[]) => {
    const claim = claims[selector]!
    const expected = typeof claim === 'function' ? claim(shown) : claim
    const pairs = Array.from({ length: Math.max(shown.length, expected.length) }, (_, at) => [shown[at], expected[at]])
    return pairs.filter(([a, b]) => !isSame(a, b, clock, names)).map(([shown, expected]) => ({ shown, expected }))
  }
  const all = selectors.map((selector, i) => ({ selector, shown: found[i]!, differing: compare(selector, found[i]!) }))
  const wrong = Object.fromEntries(
    all.filter(({ differing }) => differing.length > 0).map(({ selector, differing }) => [selector, differing]),
  )
  // Finds claims that match any number, for example because they read the number from the page.
  const following = all.flatMap(({ selector, shown }) =>
    shown.flatMap((text, i) =>
      [...text.matchAll(/\d+/g)]
        .map(({ index }) => `${text.slice(0, index)}${WRONG_PREFIX}${text.slice(index)}`)
        .filter((changed) => compare(selector, shown.with(i, changed)).length === 0)
        .map((changed) => `${selector}: ${changed}`),
    ),
  )
  const wrongTimes = times.filter((one) => !saysTime(one, clock))
  const problems = { wrong, wrongTimes, following, unclaimed: [...new Set(unclaimed)], twice: [...new Set(twice)] }
  return Object.fromEntries(Object.entries(problems).filter(([, found]) => Object.keys(found).length > 0))
}
