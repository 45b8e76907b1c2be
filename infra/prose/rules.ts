// Native readers have to read these patterns twice. A sentence without a hit can still be hard to read.

type Rule = { name: string; pattern: RegExp; advice: string }

const CLAUSE = 'start with a noun or a verb: "Returns …", "The … that …"'

export const rules: Rule[] = [
  {
    name: 'clause-as-noun',
    pattern: /^(what|who|whose|whom|whoever|whatever|whether|where|how)\b(?![^.]*\?)/i,
    advice: CLAUSE,
  },
  {
    name: 'clause-as-noun',
    pattern:
      /\b(what|whatever|who|whoever|whom) (it|they|is|are|was|were|has|have|had|came|comes|waits?|stands?|goes|went|says?|ran|runs|takes?|asks?|knows?|holds?|needs?|fits?|becomes?)\b(?![^.]*\?)/i,
    advice: 'name the thing: values, caller, request, result',
  },
  {
    name: 'where-as-if',
    pattern:
      /\bwhere (nothing|none|it|they|that|there|somebody|nobody|one|its|the|a|no) [^.]{0,40}\b(says?|said|is|has|have|had|are|was|does|were)\b/i,
    advice: 'use "if", "unless", "by default"',
  },
  {
    name: 'reported-speech',
    pattern:
      /\b(is|are|was|were|be|been|not) (told|said|heard of|lent|asked for)\b|\b(tells?|told) (of|who|what|when|whether|how|it|them|that)\b|\b(says?|said) (so|which|why|when|who|how|what|nothing|otherwise|that it|of)\b|\bas [a-z` ]{1,20} says?\b/i,
    advice: 'use: reports, records, returns, sets, specifies, defaults to, leased',
  },
  {
    name: 'vague-actor',
    pattern: /\b(nobody|somebody|somebody else|whoever|no one|others)\b/i,
    advice: 'name the actor: caller, client, worker, another lane',
  },
  {
    name: 'vague-amount',
    pattern: /\b(so many|so much|so long|as many|as long again|so often|of such)\b(?! as)/i,
    advice: 'give the number, or "the maximum number of …", "for that long"',
  },
  {
    name: 'pronoun-chain',
    pattern: /\b(that of|those of|those that|one that|that which|the one of)\b/i,
    advice: 'repeat the noun',
  },
  {
    name: 'calque',
    pattern:
      /\b(anew|meanwhile|beside|by chance|for ever|at the latest|in the place of|goes on|go on|went on|going on|gone on|stands? (in|for|behind|below|there|still|beside|as)|by itself is|no more\b(?! than)|belongs? into|worth nothing|worthless|lets? .{1,20} go)\b/i,
    advice: 'use the ordinary word: again, while, next to, random, forever, continues, is stored in',
  },
  {
    name: 'fronted-of',
    pattern: /^(of|in which|with which|for which|to which|to whom|from which|after which|after so) /i,
    advice: 'start with the subject',
  },
  {
    name: 'there-is-not',
    pattern: /\bthat there (is|are)( not)?\b|\bthat (is|are) there\b|\bthere is not\b/i,
    advice: 'use: existing, missing, nonexistent',
  },
]
