// Part of the runtime module that src/cloudflare.d.ts omits.

declare module 'cloudflare:workers' {
  export const env: object
}
