// A built file for browsers. Its name contains its hash.

export type Asset = { name: string; type: string } & ({ text: string } | { base64: string })
