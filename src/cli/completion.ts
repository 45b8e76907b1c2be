import { type Command, UsageError } from './command.ts'

export const firstsOf = (names: readonly string[]): string[] => [...new Set(names.map((name) => name.split(' ')[0]!))]

export const verbsOf = (names: readonly string[], first: string): string[] =>
  names.flatMap((name) => (name.startsWith(`${first} `) ? [name.split(' ')[1]!] : []))

function bash(names: readonly string[]): string[] {
  const firsts = firstsOf(names)
  const cases = firsts.flatMap((first) => {
    const verbs = verbsOf(names, first)
    return verbs.length ? [`    ${first}) words="${verbs.join(' ')}" ;;`] : []
  })
  return [
    '_sidejob() {',
    `  local words="${firsts.join(' ')}"`,
    '  [ "$COMP_CWORD" -gt 1 ] && words="--json --help"',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
    '  [ "$COMP_CWORD" -eq 2 ] && case "${COMP_WORDS[1]}" in',
    ...cases,
    '  esac',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell fills it in
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -F _sidejob sidejob',
  ]
}

export const completion = (commands: Record<string, Command>): Command => ({
  does: 'Print a completion script: source <(sidejob completion bash)',
  flags: ['help'],
  takes: ['shell'],
  async run(_client, _given, { print }, [shell]) {
    if (shell !== 'bash' && shell !== 'zsh') throw new UsageError(`expected bash or zsh, got ${shell}`)
    if (shell === 'zsh') print('autoload -U bashcompinit && bashcompinit')
    for (const line of bash(Object.keys(commands))) print(line)
  },
})
