import { SidejobError } from '../errors.ts'
import { toBase64 } from './base64.ts'
import type { Fault } from './json.ts'

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

export const fitsIn64Bits = (value: bigint): boolean => value >= -(2n ** 63n) && value < 2n ** 64n

// The platform's encoder is slower for ASCII strings up to this length.
export const SHORT = 24
