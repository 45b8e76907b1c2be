type LocalSetting = { means: string; without: string }

export const localSettings = {
  'The local stack': {
    PORT: { means: 'Port of `npm start` and `sidejob dev`.', without: '`8787`' },
    SIDEJOB_DIR: {
      means: 'Folder in which the stack keeps its data and writes its address.',
      without: '`.sidejob`',
    },
    SIDEJOB_REDIS: {
      means:
        "Redis of the stack: `embedded`, `server`, `strict` (a server behind Upstash's Lua and limits; it needs Debian's `golang-go` and `golang-github-yuin-gopher-lua-dev`) or `redis://…`.",
      without: '`server` if a `redis-server` is installed, else `embedded`',
    },
    REDIS_URL: {
      means: 'Same as `SIDEJOB_REDIS`; read only if `SIDEJOB_REDIS` is not set.',
      without: 'none',
    },
    SIDEJOB_PLAN: {
      means:
        'Plan whose limits the stand-ins enforce: `free`, `payg`, `fixed`, or `off` ([platforms.md](platforms.md)).',
      without: '`payg`',
    },
    SIDEJOB_STRICT_COMPILE: {
      means: '`each`: the strict Redis compiles a script again at each call.',
      without: 'once per script',
    },
  },
  'The command line': {
    SIDEJOB_URL: {
      means: 'Address of the deployment that commands talk to.',
      without: 'the profile, else the stack that runs in this folder',
    },
    SIDEJOB_API_KEY: { means: 'API key of the commands.', without: 'as for `SIDEJOB_URL`' },
    SIDEJOB_PROFILE: { means: 'Name of a saved address and key.', without: 'none' },
    SIDEJOB_PROFILES: {
      means: 'File with the saved addresses and keys.',
      without: '`~/.config/sidejob/profiles.json`',
    },
    SIDEJOB_PACKAGE: {
      means:
        'Version of sidejob that `sidejob init` and `sidejob create` write into package.json, or a tarball, which `create` copies into the project.',
      without: 'the running version',
    },
  },
  Deployment: {
    CLOUDFLARE_API_TOKEN: {
      means: 'API token, created from Cloudflare\'s template "Edit Cloudflare Workers".',
      without: 'the login of `wrangler login`',
    },
    CLOUDFLARE_ACCOUNT_ID: { means: 'Account to deploy to.', without: 'the only account of the token' },
    CLOUDFLARE_API_BASE_URL: { means: "Address of Cloudflare's API.", without: 'the public address' },
    UPSTASH_REDIS_REGION: {
      means: 'Region of the database; the Worker is placed near it.',
      without: 'requested from Upstash, if the next two settings are set',
    },
    UPSTASH_EMAIL: {
      means: 'Account at Upstash, to find out the region.',
      without: 'the region stays unknown',
    },
    UPSTASH_API_KEY: { means: 'API key of that account.', without: 'the region stays unknown' },
    UPSTASH_API_URL: { means: "Address of Upstash's API.", without: 'the public address' },
    CI: {
      means:
        'If `CI` is set and a key is missing, the deployment fails, because the file with created keys would be lost.',
      without: 'missing keys are created',
    },
  },
} as const satisfies Record<string, Record<string, LocalSetting>>
