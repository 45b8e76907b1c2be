// Every setting of a deployment, once: what it is for, and what holds without it. docs/settings.md is made from this;
// the Worker knows only its names.

export type Setting = {
  about: 'Redis' | 'QStash' | 'Access' | 'Webhooks' | 'Lanes' | 'Files' | 'Logging'
  means: string
  /** What holds without it; where it is `required`, a deployment without it answers 503. */
  without: string
}

const given = { without: 'required' } as const

export const settings = {
  UPSTASH_REDIS_REST_URL: { about: 'Redis', means: 'Address of the Redis database.', ...given },
  UPSTASH_REDIS_REST_TOKEN: { about: 'Redis', means: 'Its token, one that may write.', ...given },
  SIDEJOB_ENCRYPTION_KEY: {
    about: 'Redis',
    means:
      'Encrypts args, state, values, results, steps and errors before they go to Redis: 32 bytes in base64, as `openssl rand -base64 32` writes them. During a rotation, give the new key and the old ones, separated by commas ([security.md](security.md#values-at-rest)).',
    without: 'they are stored as they came',
  },
  SIDEJOB_NAMESPACE: {
    about: 'Redis',
    means: 'Prefix of all keys in Redis. Deployments with different prefixes share a database and nothing else.',
    without: '`sidejob:`; `npm run deploy` says `<name>:`',
  },
  QSTASH_TOKEN: { about: 'QStash', means: 'Token with which bells are sent.', ...given },
  QSTASH_CURRENT_SIGNING_KEY: { about: 'QStash', means: 'Key with which QStash signs its calls.', ...given },
  QSTASH_NEXT_SIGNING_KEY: { about: 'QStash', means: 'Key with which it will sign after a rotation.', ...given },
  QSTASH_URL: { about: 'QStash', means: 'Address of a region of QStash.', without: 'the usual region' },
  PUBLIC_URL: {
    about: 'QStash',
    means: 'Address at which QStash reaches the Worker, with or without the mount behind it.',
    without: 'required; `sidejob deploy` finds it',
  },
  SIDEJOB_API_KEY: {
    about: 'Access',
    means: 'Key of the deployment: it may do everything. Create other keys with `POST /v1/keys`.',
    without: 'no such key; `sidejob deploy` and `sidejob dev` make one',
  },
  SIDEJOB_ORIGINS: {
    about: 'Access',
    means: 'Origins whose pages may call the API, separated by commas; `*` allows all ([edges.md](edges.md)).',
    without: 'none but our own',
  },
  SIDEJOB_ALLOW_HOSTS: {
    about: 'Access',
    means:
      'Internal hosts that may be called: `host:port`, or `host` for all its ports. `downloads=host:port` allows one use (`workers`, `callbacks`, `downloads`).',
    without: 'public addresses only',
  },
  SIDEJOB_WEBHOOK_SECRET: {
    about: 'Webhooks',
    means:
      'Signs calls to push workers and callbacks, and derives a secret for each endpoint (`whsec_…`). Give two, separated by a comma, during a rotation.',
    without: 'derived from the token of Redis',
  },
  SIDEJOB_WEBHOOK_SIGNATURES: {
    about: 'Webhooks',
    means: "`endpoint`: calls are signed with their endpoint's secret alone.",
    without: 'both signatures',
  },
  SIDEJOB_DISPATCH: {
    about: 'Lanes',
    means:
      '`eager`: the request that makes a job starts its lane, without QStash. Holds for jobs with a `timeout` of at most 27 s; others get a bell.',
    without: '`bell`',
  },
  SIDEJOB_LANE_BUDGET: { about: 'Lanes', means: 'How long a lane serves before it hands on.', without: '`25s`' },
  SIDEJOB_LANE_LEASE: {
    about: 'Lanes',
    means: 'How long a run is leased. A lane renews its leases; a run whose lease ends is lost.',
    without: '`45s`',
  },
  SIDEJOB_MAX_LOST: {
    about: 'Lanes',
    means: 'After how many lost runs in a row a job fails, where its class does not say so by `maxLost`.',
    without: '`10`; `3` under `sidejob dev`',
  },
  SIDEJOB_HISTORY: {
    about: 'Lanes',
    means:
      'How many of its last runs a job keeps, from 1 to 100, where its class does not say so by `history`. A run of such a job costs commands of its own.',
    without: 'the last ten that failed; `20` under `sidejob dev`',
  },
  SIDEJOB_PRICES: {
    about: 'Lanes',
    means:
      'What a run and a second of it are worth, such as `run=0.00002,second=0.00001`: jobs tell then what they have cost ([cost.md](cost.md#what-one-job-has-cost)).',
    without: 'jobs tell how long their runs took',
  },
  SIDEJOB_LANE_WARM: {
    about: 'Lanes',
    means: 'How long a lane waits for more work in a busy queue. `0s` switches waiting off.',
    without: '`10s`; `0s` under `sidejob dev`',
  },
  SIDEJOB_LANE_REQUESTS: {
    about: 'Lanes',
    means:
      'Number of requests after which a lane hands on; those of your functions do not count. Set `40` on Workers Free, where an invocation may send 50.',
    without: '`5000`',
  },
  SIDEJOB_LOG: {
    about: 'Logging',
    means: 'Which runs write a line of JSON to the log of the Worker: `failed`, `all` or `none`.',
    without: '`failed`',
  },
  SIDEJOB_TEST_CLOCK: {
    about: 'Logging',
    means: '`1`: `POST /v1/test/clock` moves every clock of a local stack. `sidejob deploy` refuses it.',
    without: 'no such route',
  },
  SIDEJOB_FILES_SECRET: {
    about: 'Files',
    means: 'Signs the ids and addresses of files. After a change, earlier ids and addresses stop working.',
    without: 'derived from the token of Redis',
  },
  SIDEJOB_DOWNLOAD_URL: {
    about: 'Files',
    means: 'Where files are served to everybody who knows their id, unsigned and for ever: `<url>/<folder>/<id>`.',
    without: 'addresses are signed and expire',
  },
  SIDEJOB_DOWNLOAD_MAX_BYTES: { about: 'Files', means: 'Bytes of the largest download.', without: '1 GiB' },
  SIDEJOB_FILE_RETENTION: {
    about: 'Files',
    means: 'How long a file is kept after its callback was delivered. Without a callback it is kept for 30 days.',
    without: '`3h`',
  },
  SIDEJOB_KAFKA_REST_URL: {
    about: 'Files',
    means: "A Kafka REST proxy, for Downloader's callbacks of type `kafka`.",
    without: 'such callbacks are refused',
  },
  SIDEJOB_S3_ACCESS_KEY_ID: { about: 'Files', means: 'For downloads into buckets of S3.', without: 'none' },
  SIDEJOB_S3_SECRET_ACCESS_KEY: { about: 'Files', means: 'The secret to it.', without: 'none' },
  SIDEJOB_S3_BUCKETS: {
    about: 'Files',
    means: 'Which buckets jobs may name: `name` at AWS, `https://host/name` elsewhere; `*` stands for any text.',
    without: 'none',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
