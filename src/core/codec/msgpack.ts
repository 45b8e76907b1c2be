// Parts of MessagePack without a JSON equivalent: extensions, integers of 64 bits, and faults of its bytes.

import { SidejobError } from '../errors.ts'
import { toBase64 } from './base64.ts'
import type { Fault } from './json.ts'

/** A MessagePack extension, its bytes not interpreted; a timestamp is one of type -1. */
export class Ext {
  readonly type: number
  readonly data: Uint8Array

  constructor(type: number, data: Uint8Array) {
    this.type = type
    this.data = data
  }

  toJSON(): { $ext: [number, string] } {
    return { $ext: [this.type, toBase64(this.data)] }
  }
}

/** Invalid MessagePack, with the position (from 0) and the expected token. */
export class MsgpackError extends SidejobError {
  readonly fault: Fault
  readonly offset: number

  constructor(fault: Fault, offset: number, why: string) {
    super('BAD_REQUEST', `MessagePack at byte ${offset}: ${why}`)
    this.name = 'MsgpackError'
    this.fault = fault
    this.offset = offset
  }
}

/** Returns whether MessagePack has an integer type for it. */
export const fits64 = (value: bigint): boolean => value >= -(2n ** 63n) && value < 2n ** 64n

// Up to this length a string of ASCII, which most names are, is quicker copied here than sent through the platform's coders.
export const SHORT = 24
