import type { Encoded } from '../../core/codec/value.ts'
import { plain } from './text.ts'

export function messageOf(error: Encoded, most = 300): string {
  const parsed = opened(error)
  const text =
    typeof parsed === 'object' && parsed !== null && 'message' in parsed
      ? String((parsed as { message: unknown }).message)
      : typeof parsed === 'string'
        ? parsed
        : error
  return plain(text.slice(0, most)) + (text.length > most ? '…' : '')
}

export function stackOf(error: Encoded): string | undefined {
  const parsed = opened(error) as { stack?: unknown } | null
  return typeof parsed === 'object' && typeof parsed?.stack === 'string' ? parsed.stack : undefined
}

const opened = (value: Encoded): unknown => {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

export function shareOf(progress: Encoded | null): number | undefined {
  const parsed = progress === null ? undefined : opened(progress)
  const share =
    typeof parsed === 'number'
      ? parsed
      : typeof parsed === 'object' && parsed !== null
        ? (parsed as { progress?: unknown; share?: unknown }).progress
        : undefined
  if (typeof share !== 'number' || !Number.isFinite(share) || share < 0) return undefined
  return share <= 1 ? share : share <= 100 ? share / 100 : undefined
}
