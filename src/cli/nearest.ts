const synonyms: Record<string, string> = {
  list: 'ls',
  jobs: 'ls',
  logs: 'log',
  status: 'show',
  get: 'show',
  describe: 'show',
  inspect: 'show',
  enqueue: 'run',
  add: 'run',
  trigger: 'run',
  start: 'dev',
  serve: 'dev',
  new: 'create',
  cancel: 'terminate',
  kill: 'terminate',
  stop: 'terminate',
  remove: 'delete',
  rm: 'delete',
  watch: 'tail',
  login: 'profiles set',
  whoami: 'profiles ls',
  cron: 'schedules add',
}

const sorted = (word: string): string => [...word].sort().join('')

function distance(a: string, b: string): number {
  // Swapped letters are one mistake.
  if (sorted(a) === sorted(b)) return 1
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries())
      next.push(Math.min(row[j]! + (letter === other ? 0 : 1), row[j + 1]! + 1, next[j]! + 1))
    row = next
  }
  return row[b.length]!
}

export function nearest(word: string, names: readonly string[]): string | undefined {
  const meant = synonyms[word]
  if (meant !== undefined && names.includes(meant)) return meant
  const found = names
    .map((name) => ({ name, far: distance(word, name) }))
    .sort((a, b) => a.far - b.far)
    .at(0)
  return found && found.far <= Math.max(1, Math.floor(word.length / 3)) ? found.name : undefined
}
