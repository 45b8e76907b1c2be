// A built file for browsers. Its name contains its hash.

export type Asset = { name: string; type: string; body: () => string | Uint8Array }
