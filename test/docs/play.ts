// Runs the shell commands of a page. The first new job gets the first id on the page.

import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Worker } from '../../src/core/worker.ts'
import { freePort } from '../infra/package/kit.ts'
import { blockAt, root } from './blocks.ts'
import { KEY, type Site, startSite } from './site.ts'

export type Play = {
  page: string
  /** The keys are the first characters of blocks, and the values are their outputs in order. */
  blocks: Record<string, (string | RegExp)[]>
  workers?: () => Promise<Worker[]> | Worker[]
  /** First characters of an earlier block that sets variables for these blocks. */
  given?: string
  before?: (site: Site) => Promise<unknown>
  files?: () => Record<string, string>
  stands?: (site: Site) => Record<string, string>
  stays?: RegExp
  needs?: string[]
  fails?: number
  /** Defaults to an empty folder. */
  folder?: string
  env?: (site: Site) => Record<string, string>
}

const MARK = '\u001e'

const curl = `#!/bin/bash
args=()
for arg in "$@"; do
  arg=\${arg//http:\\/\\/127.0.0.1:8787/$SITE}
  args+=("\${arg//http:\\/\\/127.0.0.1:8000/http://127.0.0.1:$PORT}")
done
exec "$REAL_CURL" --silent --show-error --fail-with-body --write-out '\\n' "\${args[@]}"
`
const npx = `#!/bin/sh
case "$1" in sidejob) shift ;; *) exec "$@" ;; esac
exec '${process.execPath}' '${join(root, 'src/cli/index.ts')}' "$@"
`

const prelude = `
exec 2>&1
set -o pipefail
trap 'echo "!! $BASH_COMMAND"' ERR
started=()
stay() {
  local log=$(mktemp "$SCRATCH/stay.XXXXXX")
  # A separate process group, so that all its processes end together.
  set -m
  "$@" >"$log" 2>&1 &
  started+=($!)
  set +m
  for _ in $(seq 600); do [ -s "$log" ] && break; sleep 0.05; done
  cat "$log"
}
trap 'for pid in "\${started[@]}"; do kill -- "-$pid"; done' EXIT
`

export const pathOf = (program: string): string =>
  spawnSync('bash', ['-c', 'command -v "$0"', program], { encoding: 'utf8' }).stdout.trim()

export function readersFolder(files: Record<string, string> = {}) {
  const scratch = mkdtempSync(join(tmpdir(), 'sidejob-play-'))
  const [bin, folder] = [join(scratch, 'bin'), join(scratch, 'folder')]
  for (const one of [bin, folder]) mkdirSync(one)
  const opener = '#!/bin/sh\n'
  for (const [name, text] of Object.entries({ curl, npx, 'xdg-open': opener, open: opener })) {
    writeFileSync(join(bin, name), text)
    chmodSync(join(bin, name), 0o755)
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return { scratch, bin, folder, remove: () => rmSync(scratch, { recursive: true, force: true }) }
}

export async function shell(
  blocks: string[],
  { scratch, bin, folder }: ReturnType<typeof readersFolder>,
  env: Record<string, string | undefined>,
): Promise<string[]> {
  const script = [prelude, ...blocks.flatMap((block) => [`printf '${MARK}'`, block])].join('\n')
  const options = {
    cwd: folder,
    env: {
      ...process.env,
      PATH: [bin, process.env.PATH].join(delimiter),
      REAL_CURL: pathOf('curl'),
      SCRATCH: scratch,
      SIDEJOB_PROFILES: join(scratch, 'profiles.json'),
      NO_COLOR: '1',
      ...env,
    },
    maxBuffer: 16 * 1_048_576,
  }
  const out = await new Promise<string>((resolve) =>
    execFile('bash', ['-c', script], options, (_error, stdout) => resolve(stdout)),
  )
  return out.split(MARK).slice(1)
}

const squeezed = (text: string) => text.replace(/\s+/g, '')

/** An output is a comment such as `# {…}`, where `…` matches any text. */
export const answersIn = (block: string): RegExp[] =>
  [...block.matchAll(/^# ([{[].*)$/gm)].map(
    ([, answer]) =>
      new RegExp(
        squeezed(answer!)
          .split('…')
          .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'))
          .join('.*?'),
      ),
  )

const startsOf = (play: Play) => Object.keys(play.blocks)

export async function played(play: Play): Promise<string[]> {
  const blocks = startsOf(play).map((start) => blockAt(play.page, start).text)
  const site = await startSite((await play.workers?.()) ?? [])
  const place = readersFolder(play.files?.())
  try {
    await play.before?.(site)
    const stands = Object.entries(play.stands?.(site) ?? {})
    const given = play.given ? [blockAt(play.page, play.given).text.split('\n')[0]!] : []
    const texts = blocks.map((block) => {
      const put = stands.reduce((text, [from, to]) => text.replaceAll(from, to), block)
      return play.stays ? put.replace(play.stays, (line) => `stay ${line.replace(' &', '')}`) : put
    })
    const env = {
      SITE: site.url,
      SIDEJOB_URL: site.url,
      SIDEJOB_API_KEY: KEY,
      PORT: String(await freePort()),
      ...play.env?.(site),
    }
    const printed = await shell([...given, ...texts], play.folder ? { ...place, folder: play.folder } : place, env)
    const asThere = printed.slice(given.length).map((text) => text.replaceAll(site.url, 'http://127.0.0.1:8787'))
    return [...faultsOf(play, blocks, asThere)]
  } finally {
    place.remove()
    await site.close()
  }
}

function* faultsOf(play: Play, blocks: string[], printed: string[]): Generator<string> {
  for (const [i, shows] of Object.values(play.blocks).entries()) {
    let rest = printed[i] ?? ''
    for (const one of [...shows, ...answersIn(blocks[i]!)]) {
      const isAnswer = !shows.includes(one)
      const text: string = isAnswer ? squeezed(printed[i] ?? '') : rest
      const at = typeof one === 'string' ? text.indexOf(one) : text.search(one)
      if (at < 0) yield `${startsOf(play)[i]}: expected ${one}, got ${printed[i]}`
      else if (!isAnswer) rest = rest.slice(at)
    }
  }
  const failed = printed.join('').match(/^!! .*$/gm) ?? []
  if (failed.length !== (play.fails ?? 0))
    yield `expected ${play.fails ?? 0} commands to fail, got ${failed.length}:\n${printed.join('\n---\n')}`
}
