// The name contains the hash of the content.

export type Asset = { name: string; type: string; body: () => string | Uint8Array }
