import { brotliCompressSync, constants } from 'node:zlib'

/** src/core/codec/packed.ts restores the value. */
export const packed = (value: unknown): string =>
  brotliCompressSync(JSON.stringify(value), { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }).toString('base64')
