// src/cloudflare.d.ts omits this part of the runtime module.

declare module 'cloudflare:workers' {
  export const env: object
}
