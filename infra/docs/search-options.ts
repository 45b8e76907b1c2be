// How pages are searched: the same where the index is made and where it is asked.

import type { Options } from 'minisearch'

export const searchOptions: Options = {
  fields: ['title', 'text'],
  storeFields: ['title'],
  // `keepResult` is found by `keep` too, `why-chain` by `chain`.
  tokenize: (text) => text.match(/[\p{L}\p{N}]+/gu) ?? [],
  searchOptions: {
    boost: { title: 4 },
    prefix: true,
    fuzzy: (term) => (term.length > 5 ? 0.2 : false),
    combineWith: 'AND',
    // The tables of other systems and the inside of sidejob come after the manual.
    boostDocument: (id) => (/^(compat|repository)\//.test(String(id)) ? 0.3 : 1),
  },
}
