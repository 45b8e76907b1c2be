// workerd and Node 25 have Uint8Array.toBase64. Older platforms have btoa and atob.
type Base64 = { toBase64?: () => string }
const native = Uint8Array as unknown as { fromBase64?: (text: string) => Uint8Array }

// Maximum characters per call of fromCharCode. Each character is an argument, and engines allow about 64k arguments.
const CHUNK = 0x8000

export const toBase64 = (bytes: Uint8Array & Base64): string =>
  bytes.toBase64 ? bytes.toBase64() : btoa(binary(bytes))

export const fromBase64 = (text: string): Uint8Array =>
  native.fromBase64 ? native.fromBase64(text) : unbinary(atob(text))

export const toBase64Url = (bytes: Uint8Array): string =>
  toBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')

export const fromBase64Url = (text: string): Uint8Array => fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))

const binary = (bytes: Uint8Array): string => {
  let text = ''
  for (let at = 0; at < bytes.length; at += CHUNK) {
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + CHUNK) as unknown as number[])
  }
  return text
}

const unbinary = (text: string): Uint8Array => {
  const bytes = new Uint8Array(text.length)
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at)
  return bytes
}
