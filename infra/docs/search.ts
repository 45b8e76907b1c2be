import MiniSearch, { type Options, type Query } from 'minisearch'

export type Section = { id: string; page: string; title: string; keywords: string; text: string }

const synonyms: Record<string, string> = {
  abort: 'terminate',
  activity: 'step',
  backlog: 'queued',
  cancel: 'terminate cancel',
  cap: 'limit',
  cronjob: 'cron schedule',
  dlq: 'failed',
  email: 'mail',
  env: 'environment',
  event: 'message event',
  fail: 'failed',
  function: 'function class',
  hang: 'running stuck',
  hanging: 'running stuck',
  idempotency: 'idempotency unique',
  kill: 'terminate',
  monitoring: 'alert metrics',
  parallel: 'concurrency parallel',
  parallelism: 'concurrency',
  payload: 'args payload',
  pricing: 'cost',
  price: 'cost',
  recurring: 'schedule repeat',
  rollback: 'roll back deploy',
  signal: 'port signal',
  task: 'job',
  tasks: 'jobs',
  throttling: 'throttle limit',
  timezone: 'zone',
  tracing: 'trace',
  webhook: 'webhook callback hook',
  workflow: 'flow workflow waits',
  worker: 'worker',
}

const stops = new Set(
  'a an and are at be can could do does for from has have how i in is it its my not of on or our so than that the their this to was we what when where which who why will with would you your'.split(
    ' ',
  ),
)

const wordsOf = (text: string): string[] => text.match(/[\p{L}\p{N}]+/gu) ?? []

/** `jobs` becomes `job`, and `retries` becomes `retry`. */
const stem = (term: string): string => {
  const word = term.toLowerCase()
  if (word.length > 4 && word.endsWith('ies')) return `${word.slice(0, -3)}y`
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}

const options: Options<Section> = {
  fields: ['title', 'page', 'keywords', 'text'],
  storeFields: ['title', 'page'],
  tokenize: wordsOf,
  processTerm: stem,
  searchOptions: {
    boost: { title: 4, page: 2, keywords: 6 },
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    // Pages of the manual rank first, then reference pages, then other pages.
    boostDocument: (id) => {
      if (/^(compat|decisions|repository)\//.test(String(id))) return 0.1
      return /^(benchmarks|functions|keys|api)\./.test(String(id)) ? 0.4 : 1
    },
  },
}

export function createIndex(sections: readonly Section[]): MiniSearch<Section> {
  const index = new MiniSearch<Section>(options)
  index.addAll(sections)
  return index
}

export const loadIndex = (text: string): MiniSearch<Section> => MiniSearch.loadJSON<Section>(text, options)

const either = (word: string): Query => {
  const ours = synonyms[stem(word)] ?? synonyms[word.toLowerCase()]
  return ours ? { combineWith: 'OR', queries: [...new Set([word, ...ours.split(' ')])] } : word
}

type Found = { id: string; title: string; page: string }

const OF_A_PAGE = 2

/** If fewer than three sections contain all words, adds sections that contain some of the words. */
export function find(index: MiniSearch<Section>, text: string, most = 12): Found[] {
  const words = wordsOf(text)
  const kept = words.filter((word) => !stops.has(word.toLowerCase()))
  const queries = (kept.length ? kept : words).map(either)
  if (queries.length === 0) return []
  const all = index.search({ combineWith: 'AND', queries })
  const found = all.length >= 3 ? all : [...all, ...index.search({ combineWith: 'OR', queries })]
  const perPage = new Map<string, number>()
  const seen = new Set<string>()
  return found
    .filter(({ id }) => !seen.has(id) && seen.add(id))
    .filter(({ page }) => {
      const count = (perPage.get(page) ?? 0) + 1
      perPage.set(page, count)
      return count <= OF_A_PAGE
    })
    .slice(0, most)
    .map(({ id, title, page }) => ({ id, title, page }))
}
