import { ApiError } from '../client/index.ts'
import { SidejobError } from '../core/errors.ts'
import { isLocal } from '../core/url.ts'
import { mountOf } from '../deploy/mount.ts'
import { UsageError } from './command.ts'
import type { Target } from './target.ts'

function unreachable({ url }: Target, cause: NodeJS.ErrnoException): string {
  const why = cause.code ?? cause.message
  const remedy = isLocal(url)
    ? 'Start `sidejob dev`, or set --url if it runs elsewhere'
    : 'Check --url, SIDEJOB_URL or the profile'
  return `Cannot reach ${url} (${why}). ${remedy}`
}

async function refused(error: ApiError, { url }: Target): Promise<string> {
  const text = `${error.status} ${error.message}`
  if (error.status === 401) return `${text}. Set --key, or run the command in the folder of \`sidejob dev\``
  if (error.status !== 404 || error.code !== 'UNKNOWN') return text
  const mount = await mountOf(new URL(url).origin)
  if (!mount) return text
  return `${text}. This Worker has sidejob below ${mount}: use --url ${new URL(mount, url)}`
}

export async function messageOf(error: unknown, target: Target | undefined): Promise<string> {
  if (error instanceof ApiError && target) return refused(error, target)
  if (error instanceof UsageError || error instanceof SidejobError) return error.message
  const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  if (message === 'fetch failed' && cause && target) return unreachable(target, cause)
  return cause && !message.includes(cause.message) ? `${message}: ${cause.message}` : message
}
