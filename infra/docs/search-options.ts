import type { Options } from 'minisearch'

export const searchOptions: Options = {
  fields: ['title', 'text'],
  storeFields: ['title'],
  // `keepResult` is also found by `keep`, `why-chain` by `chain`.
  tokenize: (text) => text.match(/[\p{L}\p{N}]+/gu) ?? [],
  searchOptions: {
    boost: { title: 4 },
    prefix: true,
    fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    combineWith: 'AND',
    // Pages about other systems and about the repository come after the manual.
    boostDocument: (id) => (/^(compat|repository)\//.test(String(id)) ? 0.3 : 1),
  },
}
