import { type Command, UsageError } from './command.ts'

const second = (commands: Record<string, Command>, first: string): string[] =>
  Object.keys(commands).flatMap((name) => (name.startsWith(`${first} `) ? [name.split(' ')[1]!] : []))

function bash(commands: Record<string, Command>): string[] {
  const firsts = [...new Set(Object.keys(commands).map((name) => name.split(' ')[0]!))]
  const cases = firsts.flatMap((first) => {
    const verbs = second(commands, first)
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
    for (const line of bash(commands)) print(line)
  },
})
