// A sealed (encrypted) value is the string `~f<id of the key>.<nonce, ciphertext and tag>`. The tag also proves the
// purpose of the value. Users may write such a string, so only fields that our own code seals are opened.

import { Buffer } from 'node:buffer'
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { type Encoded, encodedToJson } from '../core/codec/value.ts'
import { SidejobError } from '../core/errors.ts'

export type Sealed = string & { readonly __sealed: true }

export type Purpose =
  | 'args'
  | 'callback'
  | 'definition'
  | 'error'
  | 'log'
  | 'progress'
  | 'result'
  | 'run'
  | 'step'
  /** Scripts move values between ports, wires, defaults and messages, so all these values have one purpose. */
  | 'value'
  | `state ${string}`

export const stateField = (field: string): Purpose => `state ${field}`

export type Vault = {
  seal: (value: Encoded, purpose: Purpose) => Sealed
  /** Scripts compare the results, so equal values become equal strings. */
  sealSame: (value: Encoded, purpose: Purpose) => Sealed
  sealedAs: (value: Encoded | undefined, purpose: Purpose) => Sealed[]
  sealInJson: (value: Encoded, purpose: Purpose) => Encoded
  sealSameInJson: (value: Encoded, purpose: Purpose) => Encoded
  sealItem: (item: string) => string
  /** Throws if the value was sealed for another purpose, or with a missing key. */
  open: Opening
  /** A value that cannot be opened becomes `{ "$sealed": … }`. */
  show: Opening
  showLogMessage: (text: string) => string
}

export type Opening = {
  value: (text: string, purpose: Purpose) => string
  item: (text: string) => string
  error: (text: string) => string
  definition: (json: string) => string
}

type VaultOptions = {
  keys: readonly Uint8Array[]
  tenant?: string
}

const SETTING = 'SIDEJOB_ENCRYPTION_KEY'
const [ID, NONCE, TAG] = [8, 12, 16]
const CIPHER = 'aes-256-gcm'
const TOKEN = '~f([\\w-]{8})\\.([\\w-]+)'
const WHOLE = new RegExp(`^${TOKEN}$`)
const IN_JSON = new RegExp(`^"${TOKEN}"$`)
const IN_ERROR = new RegExp(`"(message|stack|detail|error|backtrace)":"${TOKEN}"`, 'g')
const IN_LOG_MESSAGE = new RegExp(`(?:"(error|backtrace|detail)":)?"${TOKEN}"`, 'g')
const ITEM = /^(?:=|@[^\n]*\n[^\n]*\n[^\n]*\n)/

export const isSealed = (text: string): boolean => text.includes('~f')

const SEALED_START = new RegExp(`${ITEM.source}?~f[\\w-]{8}\\.`)

/** Returns the approximate number of characters before sealing, because limits apply to this number. */
export function sizeBefore(text: string): number {
  const [start] = SEALED_START.exec(text) ?? []
  return start === undefined ? text.length : Math.floor(((text.length - start.length) * 3) / 4)
}

type Key = { id: string; cipher: Buffer; nonces: Buffer }

const derived = (key: Uint8Array, use: string): Buffer => createHmac('sha256', key).update(`sidejob ${use}`).digest()

const keyOf = (key: Uint8Array, tenant: string): Key => ({
  id: derived(key, 'id').toString('base64url').slice(0, ID),
  cipher: derived(key, `values of ${tenant}`),
  nonces: derived(key, `nonces of ${tenant}`),
})

const authenticated = (purpose: Purpose): Buffer => Buffer.from(`sidejob value for ${purpose}`)

function sealed({ id, cipher }: Key, value: string, purpose: Purpose, nonce: Uint8Array): Sealed {
  const making = createCipheriv(CIPHER, cipher, nonce)
  making.setAAD(authenticated(purpose))
  const parts = [nonce, making.update(value, 'utf8'), making.final(), making.getAuthTag()]
  return `~f${id}.${Buffer.concat(parts).toString('base64url')}` as Sealed
}

function opened({ id, cipher }: Key, body: string, purpose: Purpose): string {
  const bytes = Buffer.from(body, 'base64url')
  try {
    const making = createDecipheriv(CIPHER, cipher, bytes.subarray(0, NONCE), { authTagLength: TAG })
    making.setAAD(authenticated(purpose))
    making.setAuthTag(bytes.subarray(-TAG))
    return Buffer.concat([making.update(bytes.subarray(NONCE, -TAG)), making.final()]).toString('utf8')
  } catch {
    throw new SidejobError(
      'REFUSED',
      `key ${id} of ${SETTING} cannot decrypt this value as ${purpose}: it was encrypted for another purpose, or was changed`,
    )
  }
}

// Scripts add members to a logged object, and write its sealed value as the last member, `$sealed`.
const LOGGED = new RegExp(`^\\{((?:"(?:timestamp|job)":\\d+,)*)"\\$sealed":"(${TOKEN})"\\}$`)

function withMembers(added: string, entry: string): string {
  if (!entry.startsWith('{')) return entry
  const own = JSON.parse(entry) as object
  const missing = added.split(',').filter((word) => word && !Object.hasOwn(own, word.slice(1, word.lastIndexOf('"'))))
  const members = entry.slice(1, -1)
  return `{${[...missing, ...(members.trim() ? [members] : [])].join(',')}}`
}

export function createVault({ keys, tenant = '' }: VaultOptions = { keys: [] }): Vault {
  const known = keys.map((key) => keyOf(key, tenant))
  const [first] = known
  const nonceOf = ({ nonces }: Key, value: string, purpose: Purpose): Uint8Array =>
    createHmac('sha256', nonces).update(`${purpose}\n${value}`).digest().subarray(0, NONCE)

  function openToken(id: string, body: string, purpose: Purpose): string {
    const key = known.find((one) => one.id === id)
    if (key) return opened(key, body, purpose)
    const got = known.length ? `only ${known.map((one) => one.id).join(', ')}` : 'none'
    throw new SidejobError(
      'REFUSED',
      `this value was encrypted with key ${id}: expected that key in ${SETTING}, got ${got}`,
    )
  }

  function openValue(text: string, purpose: Purpose): string {
    const [, id, body] = WHOLE.exec(text) ?? []
    return id === undefined ? text : openToken(id, body!, purpose)
  }

  function showValue(text: string, purpose: Purpose): string {
    try {
      return openValue(text, purpose)
    } catch {
      return JSON.stringify({ $sealed: text })
    }
  }

  function member(id: string, body: string, purpose: Purpose, otherwise: string): string {
    try {
      return openToken(id, body, purpose)
    } catch {
      return otherwise
    }
  }

  const openError: Opening['error'] = (text) =>
    isSealed(text)
      ? text.replace(IN_ERROR, (_, name, id, body) => `"${name}":${member(id, body, 'error', `"~f${id}.${body}"`)}`)
      : text

  function openDefinition(json: string): string {
    const [, id, body] = IN_JSON.exec(json) ?? []
    return id === undefined ? json : member(id, body!, 'definition', json)
  }

  const openingWith = (value: Opening['value']): Opening => ({
    value,
    item(item) {
      const [start] = ITEM.exec(item) ?? ['']
      return start + value(item.slice(start.length), 'value')
    },
    error: openError,
    definition: openDefinition,
  })

  function showLogMessage(text: string): string {
    if (!isSealed(text)) return text
    if (WHOLE.test(text)) return showValue(text, 'value')
    const [, added, token] = LOGGED.exec(text) ?? []
    if (added !== undefined) return withMembers(added, showValue(token!, 'log'))
    return text.replace(IN_LOG_MESSAGE, (whole: string, name: string | undefined, id: string, body: string) =>
      name === undefined
        ? member(id, body, 'value', whole)
        : `"${name}":${member(id, body, 'error', `"~f${id}.${body}"`)}`,
    )
  }

  const seal: Vault['seal'] = (value, purpose) =>
    first ? sealed(first, value, purpose, randomBytes(NONCE)) : (value as string as Sealed)
  const sealSame: Vault['sealSame'] = (value, purpose) =>
    first ? sealed(first, value, purpose, nonceOf(first, value, purpose)) : (value as string as Sealed)
  const inJson =
    (by: Vault['seal']): Vault['sealInJson'] =>
    (value, purpose) => {
      const text = encodedToJson(value)
      return first ? JSON.stringify(by(text, purpose)) : text
    }
  return {
    seal,
    sealSame,
    sealedAs: (value = '', purpose) => [
      ...(value === '' ? [] : known.map((key) => sealed(key, value, purpose, nonceOf(key, value, purpose)))),
      value as string as Sealed,
    ],
    sealInJson: inJson(seal),
    sealSameInJson: inJson(sealSame),
    sealItem(item) {
      if (!first) return item
      const [start] = ITEM.exec(item)!
      return start + seal(item.slice(start.length), 'value')
    },
    open: openingWith(openValue),
    show: openingWith(showValue),
    showLogMessage,
  }
}
