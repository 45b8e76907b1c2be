// Types of the variables and bindings of this Worker.
// To generate this file, delete it and run `npx wrangler types src/env.d.ts --include-runtime=false`.

interface Env {
  /** `job.env.GREETING` in a function. */
  GREETING: string
}

declare namespace Cloudflare {
  interface Env {
    GREETING: string
  }
}
