import { brotliCompressSync, constants } from 'node:zlib'

/** For `unpacking` of src/core/codec/packed.ts. */
export const packed = (value: unknown): string =>
  brotliCompressSync(JSON.stringify(value), { params: { [constants.BROTLI_PARAM_LGWIN]: 24 } }).toString('base64')
