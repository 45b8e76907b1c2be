import { fileTypeFromBuffer } from 'file-type/core'
import { imageDimensionsFromData } from 'image-dimensions'
import { fail } from './failure.ts'

export const HEAD = 1_024

const isText = (bytes: Uint8Array): boolean => {
  try {
    // `stream` accepts bytes that end inside a character.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return !/\p{Cc}/u.test(text.replace(/\s/g, ''))
  } catch {
    return false
  }
}

export async function typeOf(start: Uint8Array): Promise<string> {
  if (start.length === 0) return 'application/x-empty'
  const found = await fileTypeFromBuffer(start).catch(() => undefined)
  if (found) return found.mime
  if (!isText(start)) return 'application/octet-stream'
  const text = new TextDecoder().decode(start).trimStart().toLowerCase()
  return /^<(!doctype html|html|head|body)/.test(text) ? 'text/html' : 'text/plain'
}

const images = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])

export function imageSize(start: Uint8Array, type: string, status: number): string | undefined {
  if (!images.has(type)) return undefined
  let found: { width: number; height: number } | undefined
  try {
    found = imageDimensionsFromData(start)
  } catch {
    found = undefined
  }
  if (found) return `${found.width}x${found.height}`
  const cause = `the header of the ${type} cannot be read`
  return fail({ phase: 'extracting image-size', cause, code: 'IMAGE_SIZE', status, retriable: false })
}
