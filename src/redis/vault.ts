// Users' values as they lie in Redis: sealed with a key of the deployment where it has one, and opened as they come back.
//
// A sealed value is a closed text like any other: `~e<key>.<nonce, ciphertext and tag>`. Scripts move it without a look at
// it, put it behind an item's `=`, or as a text into JSON that they write, so that it is found again in all three places.

import { Buffer } from 'node:buffer'
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { type Encoded, encodedToJson } from '../core/codec/value.ts'
import { SidejobError } from '../core/errors.ts'

/** A value as it is kept, sealed or not: whoever writes to Redis asks the vault for it. */
export type Sealed = string & { readonly __sealed: true }

export type Vault = {
  /** A value as it is kept: another text each time. */
  seal: (value: Encoded) => Sealed
  /** The same for what is compared in Redis: of one value the same text, as long as it is for the same purpose. */
  sealSame: (value: Encoded, purpose: string) => Sealed
  /** Every text under which a value may have been kept for a purpose; none at all is an empty text. */
  sealedAs: (value: Encoded | undefined, purpose: string) => Sealed[]
  /** A value as a part of JSON text that we write ourselves; for a purpose, always the same text. */
  sealInJson: (value: Encoded, purpose?: string) => Encoded
  /** The value of an item sealed; what travels beside it is not. */
  sealItem: (item: string) => string
  /**
   * A value, an item or a result as it was before it was sealed.
   * @throws where its key is not there.
   */
  open: (text: string) => string
  /** The same for whoever only looks: what cannot be opened is `{ "$sealed": … }`, and can be once its key is there. */
  show: (text: string) => string
  /**
   * JSON that was written around sealed texts, with what they hold: errors, definitions, entries of the log. A text that
   * no key of ours has sealed stays: it may be a user's own.
   */
  showParts: (text: string) => string
  /** A text that may be either: a value that is sealed as a whole, or JSON around such. */
  showAll: (text: string) => string
}

/** How the values of a record are opened, and JSON that was written around values. */
export type Opening = { whole: (text: string) => string; parts: (text: string) => string }

/** For whoever only looks. @example decodeRecord(text, beside, showing(vault)) */
export const showing = ({ show, showParts }: Vault): Opening => ({ whole: show, parts: showParts })

/** For whoever works with the values: without its key, a record cannot be read. */
export const opening = ({ open, showParts }: Vault): Opening => ({ whole: open, parts: showParts })

/** What values are compared for in Redis. */
export const purposes = {
  args: 'args',
  state: (field: string): string => `state:${field}`,
  definition: 'definition',
}

export type VaultOptions = {
  /** Keys of 32 bytes: the first one seals, all of them open. */
  keys: readonly Uint8Array[]
  /** Whose values they are: what is one tenant's cannot be opened as another's. */
  tenant?: string
}

const SETTING = 'SIDEJOB_ENCRYPTION_KEY'
const [ID, NONCE, TAG] = [8, 12, 16]
const CIPHER = 'aes-256-gcm'
/** Alone, or at the end of an item or result: no JSON of a user ends so. */
const WHOLE = /(^|=|\n)~e([\w-]{8})\.([\w-]+)$/
/** A text of JSON. */
const PART = /"~e([\w-]{8})\.([\w-]+)"/g

/** Whether there may be something sealed in a text. */
export const isSealed = (text: string): boolean => text.includes('~e')

/** About how many characters a value or an item had before it was sealed: what is sealed is allowed as much as any other. */
export function sizeBefore(text: string): number {
  const [head] = /^(?:=|@[^\n]*\n[^\n]*\n[^\n]*\n)?~e[\w-]{8}\./.exec(text) ?? []
  return head === undefined ? text.length : Math.floor(((text.length - head.length) * 3) / 4)
}

type Key = { id: string; cipher: Buffer; nonces: Buffer }

const derived = (key: Uint8Array, use: string): Buffer => createHmac('sha256', key).update(`sidejob ${use}`).digest()

const keyOf = (key: Uint8Array, tenant: string): Key => ({
  id: derived(key, 'id').toString('base64url').slice(0, ID),
  cipher: derived(key, `values of ${tenant}`),
  nonces: derived(key, `nonces of ${tenant}`),
})

function sealed({ id, cipher }: Key, value: string, nonce: Uint8Array): Sealed {
  const making = createCipheriv(CIPHER, cipher, nonce)
  const parts = [nonce, making.update(value, 'utf8'), making.final(), making.getAuthTag()]
  return `~e${id}.${Buffer.concat(parts).toString('base64url')}` as Sealed
}

function opened({ id, cipher }: Key, body: string): string {
  const bytes = Buffer.from(body, 'base64url')
  const making = createDecipheriv(CIPHER, cipher, bytes.subarray(0, NONCE))
  making.setAuthTag(bytes.subarray(-TAG))
  try {
    return Buffer.concat([making.update(bytes.subarray(NONCE, -TAG)), making.final()]).toString('utf8')
  } catch {
    throw new SidejobError(
      'REFUSED',
      `expected a value that key ${id} of ${SETTING} has sealed here, got one of another tenant, or one that was changed`,
    )
  }
}

// What a function or a program logs is an object; what scripts know of the entry stands before it, and gives way to it.
const LOGGED = /^\{((?:"(?:timestamp|job)":\d+,)*)"\$sealed":([\s\S]*)\}$/

/** An entry of the log with what scripts have put around it. */
function withMembers(text: string): string {
  const [, around, entry] = LOGGED.exec(text) ?? []
  if (around === undefined) return text
  if (!entry!.startsWith('{')) return entry!
  const own = JSON.parse(entry!) as object
  const beside = around.split(',').filter((word) => word && !Object.hasOwn(own, word.slice(1, word.lastIndexOf('"'))))
  const members = entry!.slice(1, -1)
  return `{${[...beside, ...(members.trim() ? [members] : [])].join(',')}}`
}

/**
 * Seals and opens values with the keys of a deployment; without one they stay as they are.
 *
 * @example
 * const vault = createVault({ keys: [key] })
 * vault.open(vault.seal('{"card":"4111"}')) // '{"card":"4111"}'
 */
export function createVault({ keys, tenant = '' }: VaultOptions = { keys: [] }): Vault {
  const known = keys.map((key) => keyOf(key, tenant))
  const [first] = known
  const nonceOf = ({ nonces }: Key, value: string, purpose: string): Uint8Array =>
    createHmac('sha256', nonces).update(`${purpose}\n${value}`).digest().subarray(0, NONCE)

  function openOne(id: string, body: string): string {
    const key = known.find((one) => one.id === id)
    if (key) return opened(key, body)
    const got = known.length ? `only ${known.map((one) => one.id).join(', ')}` : 'none'
    throw new SidejobError('REFUSED', `this value was sealed with key ${id}: expected it in ${SETTING}, got ${got}`)
  }

  function markOne(id: string, body: string): string {
    try {
      return openOne(id, body)
    } catch {
      return `{"$sealed":"~e${id}.${body}"}`
    }
  }

  const through = (text: string, one: typeof openOne): string =>
    isSealed(text) ? text.replace(WHOLE, (_, before: string, id, body) => before + one(id, body)) : text

  const show: Vault['show'] = (text) => through(text, markOne)

  function partOf(token: string, id: string, body: string): string {
    const key = known.find((one) => one.id === id)
    try {
      return key ? opened(key, body) : token
    } catch {
      return token
    }
  }

  function showParts(text: string): string {
    if (!isSealed(text)) return text
    const whole = text.replace(PART, partOf)
    return text.includes('"$sealed":"~e') && !whole.includes('"$sealed":"~e') ? withMembers(whole) : whole
  }

  const seal: Vault['seal'] = (value) =>
    first ? sealed(first, value, randomBytes(NONCE)) : (value as string as Sealed)
  const sealSame: Vault['sealSame'] = (value, purpose) =>
    first ? sealed(first, value, nonceOf(first, value, purpose)) : (value as string as Sealed)
  return {
    seal,
    sealSame,
    sealedAs: (value = '', purpose) => [
      ...(value === '' ? [] : known.map((key) => sealed(key, value, nonceOf(key, value, purpose)))),
      value as string as Sealed,
    ],
    sealInJson: (value, purpose) => {
      const text = encodedToJson(value)
      if (!first) return text
      return JSON.stringify(purpose === undefined ? seal(text) : sealSame(text, purpose))
    },
    sealItem(item) {
      if (!first) return item
      const end = item.startsWith('=') ? 1 : item.indexOf('\n', item.indexOf('\n', item.indexOf('\n') + 1) + 1) + 1
      return item.slice(0, end) + seal(item.slice(end))
    },
    open: (text) => through(text, openOne),
    show,
    showParts,
    showAll: (text) => showParts(show(text)),
  }
}
