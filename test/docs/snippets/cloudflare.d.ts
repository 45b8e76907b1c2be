// A part of the module of the runtime that src/cloudflare.d.ts leaves out.

declare module 'cloudflare:workers' {
  export const env: object
}
