// What this Worker is given; `npx wrangler types` can write it for you.

interface Env {
  /** `job.env.GREETING` in a function. */
  GREETING: string
}

declare namespace Cloudflare {
  interface Env {
    GREETING: string
  }
}
