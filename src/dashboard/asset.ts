// A built file for browsers; its name has its hash.

export type Asset = { name: string; type: string } & ({ text: string } | { base64: string })
