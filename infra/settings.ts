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
      "Which Redis: `embedded`, `server`, `strict` (a server behind Upstash's Lua and limits; it needs Debian's `golang-go` and `golang-github-yuin-gopher-lua-dev`) or `redis://…`.",
    without: 'a `redis-server` on the machine, else `embedded`',
  },
  REDIS_URL: { of: 'the local stack', means: 'The same, where `SIDEJOB_REDIS` is not set.', without: 'none' },
  SIDEJOB_PLAN: {
    of: 'the local stack',
    means:
      'The plan whose limits the stand-ins enforce: `free`, `payg`, `fixed`, or `off` ([platforms.md](platforms.md)).',
    without: '`payg`',
  },
  SIDEJOB_STRICT_COMPILE: {
    of: 'the local stack',
    means: '`each`: the strict Redis compiles a script at each call.',
    without: 'once per script',
  },
  SIDEJOB_URL: {
    of: 'the command line',
    means: 'Address of the deployment that commands talk to.',
    without: 'the profile, else the stack that runs in this folder',
  },
  SIDEJOB_API_KEY: { of: 'the command line', means: 'API key of the commands.', without: 'the same' },
  SIDEJOB_PROFILE: { of: 'the command line', means: 'Name of an address and key that are kept.', without: 'none' },
  SIDEJOB_PROFILES: {
    of: 'the command line',
    means: 'File in which they are kept.',
    without: '`~/.config/sidejob/profiles.json`',
  },
  SIDEJOB_PACKAGE: {
    of: 'the command line',
    means:
      'Version of sidejob that `sidejob init` and `create` write into package.json. `create` copies a tarball into the project.',
    without: 'the version that runs',
  },
  CLOUDFLARE_API_TOKEN: {
    of: 'deployment',
    means: 'A token of Cloudflare\'s template "Edit Cloudflare Workers".',
    without: 'the login of `wrangler login`',
  },
  CLOUDFLARE_ACCOUNT_ID: { of: 'deployment', means: 'Which account.', without: 'the only one there is' },
  CLOUDFLARE_API_BASE_URL: { of: 'deployment', means: "Address of Cloudflare's API.", without: 'the public one' },
  UPSTASH_REDIS_REGION: {
    of: 'deployment',
    means: 'Region of the database; the Worker is placed near it.',
    without: 'Upstash is asked, with the two below',
  },
  UPSTASH_EMAIL: { of: 'deployment', means: 'Account at Upstash, to ask for the region.', without: 'not asked' },
  UPSTASH_API_KEY: { of: 'deployment', means: 'Key to it.', without: 'not asked' },
  UPSTASH_API_URL: { of: 'deployment', means: "Address of Upstash's API.", without: 'the public one' },
  CI: {
    of: 'deployment',
    means: 'If set, a missing key is refused, because a file of new keys would be lost.',
    without: 'keys are made',
  },
} as const satisfies Record<string, LocalSetting>
