import { Later, retryAfter, Terminal } from '../../src/index.ts'

type Phase =
  | 'performing request'
  | 'processing response'
  | 'downloading file'
  | 'validating mime type'
  | 'extracting image-size'
  | 'storing file'

type Fault = { phase: Phase; cause: string; code: string; status?: number; after?: number; retriable: boolean }

export function fail({ phase, cause, code, status = 0, after, retriable }: Fault, error?: unknown): never {
  const internal = phase === 'storing file'
  const text = `Error while ${phase}, ${cause}, retriable: ${retriable}, internal: ${internal}`
  const detail = { code, phase, status }
  throw retriable ? new Later(text, { after, detail, cause: error }) : new Terminal(text, { detail, cause: error })
}

export const isOurs = (error: unknown): boolean => error instanceof Later || error instanceof Terminal

export const TLS = /^(CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/

export const causeOf = (error: unknown): { message: string; code: string } => {
  const { message, code, cause } = error as Error & { code?: string; cause?: Error & { code?: string } }
  return { message: cause?.message ?? message, code: cause?.code ?? code ?? '' }
}

const TEMPORARY = new Set([408, 425, 429])
const MAX_RETRY_AFTER_MS = 86_400_000

/** If a TLS connection fails, Cloudflare returns one of these statuses, and other platforms throw an error. */
const tlsStatuses: Record<number, string> = { 525: 'the TLS handshake failed', 526: 'the certificate is not trusted' }

export function checkStatus(response: Response): void {
  const { status } = response
  if (status >= 200 && status < 300) return
  const tls = tlsStatuses[status]
  if (tls) fail({ phase: 'performing request', cause: tls, code: 'TLS', retriable: false })
  const after = Math.min(MAX_RETRY_AFTER_MS, retryAfter(response.headers.get('retry-after'), Date.now()) ?? 0)
  const cause = `Received status code ${status} ${response.statusText}`.trim()
  const retriable = status >= 500 || TEMPORARY.has(status)
  fail({ phase: 'processing response', cause, code: `HTTP_${status}`, status, after, retriable })
}

export const countOf = (error: unknown): string => {
  const { code = '', status = 0 } = (error as { detail?: { code?: string; status?: number } }).detail ?? {}
  const names: Record<string, string> = { TLS: 'tls', MIME: 'mime', BODY: 'body', IMAGE_SIZE: 'image-size' }
  return `download.response.${names[code] ?? status}`
}
