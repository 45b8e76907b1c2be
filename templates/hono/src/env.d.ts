// Types of the variables and bindings of this Worker; `npx wrangler types` can write this file for you.

interface Env {
  /** `job.env.GREETING` in a function. */
  GREETING: string
}

declare namespace Cloudflare {
  interface Env {
    GREETING: string
  }
}
