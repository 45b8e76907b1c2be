// A file that browsers load, as it was built; its name holds a hash of it.

export type Asset = { name: string; type: string } & ({ text: string } | { base64: string })
