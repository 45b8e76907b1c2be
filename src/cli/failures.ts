import { ApiError } from '../client/index.ts'
import { SidejobError } from '../core/errors.ts'
import { dotted } from '../core/issues.ts'
import { isLocal } from '../core/url.ts'
import { mountOf } from '../deploy/mount.ts'
import { type Option, UsageError } from './command.ts'
import type { Target } from './target.ts'

function unreachable({ url }: Target, cause: NodeJS.ErrnoException): string {
  const why = cause.code ?? cause.message
  const remedy = isLocal(url)
    ? 'Start `sidejob dev`, or set --url if it runs elsewhere'
    : 'Check --url, SIDEJOB_URL or the profile'
  return `Cannot reach ${url} (${why}). ${remedy}`
}

type Options = Record<string, Option>

/** Replaces the field that the API names by the option that the user typed. */
function asTyped({ message, path = [] }: ApiError, options: Options): string {
  const start = path.map((_, i) => `${dotted(path.slice(0, i + 1))}: `).findLast((one) => message.startsWith(one))
  if (!start) return message
  // The body of `download` is a list of jobs with the same options.
  const named = dotted(path).replace(/^\[\d+\]\./, '')
  for (const [name, { fields = [name] }] of Object.entries(options)) {
    const field = fields.find((one) => named.startsWith(one) && /^([.[]|$)/.test(named.slice(one.length)))
    if (field === undefined) continue
    const inside = named
      .slice(field.length)
      .replace(/^\[\d+\]$/, '')
      .replace('.', ' ')
    return `--${name}${inside}: ${message.slice(start.length)}`
  }
  return message
}

async function refused(error: ApiError, { url }: Target, options: Options): Promise<string> {
  const text = `${error.status} ${asTyped(error, options)}`
  if (error.status === 401) return `${text}. Set --key, or run the command in the folder of \`sidejob dev\``
  if (error.status !== 404 || error.code !== 'UNKNOWN') return text
  const mount = await mountOf(new URL(url).origin)
  if (!mount) return text
  return `${text}. This Worker has sidejob below ${mount}: use --url ${new URL(mount, url)}`
}

export async function messageOf(error: unknown, target?: Target, options: Options = {}): Promise<string> {
  if (error instanceof ApiError && target) return refused(error, target, options)
  if (error instanceof UsageError || error instanceof SidejobError) return error.message
  const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (message === 'fetch failed' && cause && target) return unreachable(target, cause)
  return cause && !message.includes(cause.message) ? `${message}: ${cause.message}` : message
}
