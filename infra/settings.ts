type LocalSetting = { of: 'the local stack' | 'the command line' | 'deployment'; means: string; without: string }

export const localSettings = {
  PORT: { of: 'the local stack', means: 'Port of `npm start` and `sidejob dev`.', without: '`8787`' },
  SIDEJOB_DIR: {
    of: 'the local stack',
    means: 'Folder in which the stack keeps its data and writes its address.',
    without: '`.sidejob`',
  },
  SIDEJOB_REDIS: {
    of: 'the local stack',
    means:
      "Redis of the stack: `embedded`, `server`, `strict` (a server behind Upstash's Lua and limits; it needs Debian's `golang-go` and `golang-github-yuin-gopher-lua-dev`) or `redis://…`.",
    without: '`server` if a `redis-server` is installed, else `embedded`',
  },
  REDIS_URL: {
    of: 'the local stack',
    means: 'Same as `SIDEJOB_REDIS`; read only if `SIDEJOB_REDIS` is not set.',
    without: 'none',
  },
  SIDEJOB_PLAN: {
    of: 'the local stack',
    means: 'Plan whose limits the stand-ins enforce: `free`, `payg`, `fixed`, or `off` ([platforms.md](platforms.md)).',
    without: '`payg`',
  },
  SIDEJOB_STRICT_COMPILE: {
    of: 'the local stack',
    means: '`each`: the strict Redis compiles a script again at each call.',
    without: 'once per script',
  },
  SIDEJOB_URL: {
    of: 'the command line',
    means: 'Address of the deployment that commands talk to.',
    without: 'the profile, else the stack that runs in this folder',
  },
  SIDEJOB_API_KEY: { of: 'the command line', means: 'API key of the commands.', without: 'as for `SIDEJOB_URL`' },
  SIDEJOB_PROFILE: { of: 'the command line', means: 'Name of a saved address and key.', without: 'none' },
  SIDEJOB_PROFILES: {
    of: 'the command line',
    means: 'File with the saved addresses and keys.',
    without: '`~/.config/sidejob/profiles.json`',
  },
  SIDEJOB_PACKAGE: {
    of: 'the command line',
    means:
      'Version of sidejob that `sidejob init` and `sidejob create` write into package.json, or a tarball, which `create` copies into the project.',
    without: 'the running version',
  },
  CLOUDFLARE_API_TOKEN: {
    of: 'deployment',
    means: 'API token, created from Cloudflare\'s template "Edit Cloudflare Workers".',
    without: 'the login of `wrangler login`',
  },
  CLOUDFLARE_ACCOUNT_ID: { of: 'deployment', means: 'Account to deploy to.', without: 'the only account of the token' },
  CLOUDFLARE_API_BASE_URL: { of: 'deployment', means: "Address of Cloudflare's API.", without: 'the public address' },
  UPSTASH_REDIS_REGION: {
    of: 'deployment',
    means: 'Region of the database; the Worker is placed near it.',
    without: 'requested from Upstash, if the next two settings are set',
  },
  UPSTASH_EMAIL: {
    of: 'deployment',
    means: 'Account at Upstash, to find out the region.',
    without: 'the region stays unknown',
  },
  UPSTASH_API_KEY: { of: 'deployment', means: 'API key of that account.', without: 'the region stays unknown' },
  UPSTASH_API_URL: { of: 'deployment', means: "Address of Upstash's API.", without: 'the public address' },
  CI: {
    of: 'deployment',
    means:
      'If `CI` is set and a key is missing, the deployment fails, because the file with created keys would be lost.',
    without: 'missing keys are created',
  },
} as const satisfies Record<string, LocalSetting>
