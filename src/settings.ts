// Every setting of a deployment, for docs/settings.md; the Worker knows only the names.

export type Setting = {
  about: 'Redis' | 'QStash' | 'Access' | 'Webhooks' | 'Lanes' | 'Files' | 'Logging'
  means: string
  /** Default; without a `required` setting a deployment answers 503. */
  without: string
}

const given = { without: 'required' } as const

export const settings = {
  UPSTASH_REDIS_REST_URL: { about: 'Redis', means: 'Address of the Redis database.', ...given },
  UPSTASH_REDIS_REST_TOKEN: { about: 'Redis', means: 'Its token, with write access.', ...given },
  SIDEJOB_ENCRYPTION_KEY: {
    about: 'Redis',
    means:
      'Encrypts args, state, values, results, steps and errors before they go to Redis: 32 bytes in base64, for example from `openssl rand -base64 32`. During a rotation, give the new key and the old ones, separated by commas ([security.md](security.md#values-at-rest)).',
    without: 'they are stored unencrypted',
  },
  SIDEJOB_NAMESPACE: {
    about: 'Redis',
    means: 'Prefix of all keys in Redis. Deployments with different prefixes share a database and nothing else.',
    without: '`sidejob:`; `npm run deploy` sets `<name>:`',
  },
  QSTASH_TOKEN: { about: 'QStash', means: 'Token for sending bells.', ...given },
  QSTASH_CURRENT_SIGNING_KEY: { about: 'QStash', means: 'Key that QStash signs its calls with.', ...given },
  QSTASH_NEXT_SIGNING_KEY: {
    about: 'QStash',
    means: 'Key that QStash signs its calls with after a rotation.',
    ...given,
  },
  QSTASH_URL: { about: 'QStash', means: 'Address of a region of QStash.', without: 'the usual region' },
  PUBLIC_URL: {
    about: 'QStash',
    means: 'Public address of the Worker, with or without the mount.',
    without: 'required; `sidejob deploy` finds it',
  },
  SIDEJOB_API_KEY: {
    about: 'Access',
    means: 'API key of the deployment, with all rights. Create other keys with `POST /v1/keys`.',
    without: 'none; `sidejob deploy` and `sidejob dev` create one',
  },
  SIDEJOB_ORIGINS: {
    about: 'Access',
    means: 'Origins whose pages may call the API, separated by commas; `*` allows all ([edges.md](edges.md)).',
    without: "only the deployment's own",
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
      '`eager`: the request that creates a job starts its lane, without QStash. Applies to jobs with a `timeout` of at most 27 s; longer jobs get a bell.',
    without: '`bell`',
  },
  SIDEJOB_LANE_BUDGET: { about: 'Lanes', means: 'Time after which a lane hands over.', without: '`25s`' },
  SIDEJOB_LANE_LEASE: {
    about: 'Lanes',
    means: 'Lease of a run. A lane renews its leases; a run whose lease ends is lost.',
    without: '`45s`',
  },
  SIDEJOB_MAX_LOST: {
    about: 'Lanes',
    means: 'Number of consecutive lost runs after which a job fails; a class can override it with `maxLost`.',
    without: '`10`; `3` under `sidejob dev`',
  },
  SIDEJOB_VERSION: {
    about: 'Logging',
    means:
      'Version of the code, such as a commit: each run records it, and the dashboard compares versions. `sidejob deploy` sets the commit of the folder.',
    without: "the tag or id of Cloudflare's version, if the binding `CF_VERSION_METADATA` exists",
  },
  SIDEJOB_VERSION_URL: {
    about: 'Logging',
    means:
      "Address of this version alone, for classes with `pin`; `{id}` is the start of the id of Cloudflare's version ([changing-code.md](changing-code.md#pin-a-class)). `sidejob deploy` sets it if `preview_urls` is true.",
    without: 'a deployment with pinned classes answers 500',
  },
  SIDEJOB_AUTHOR: {
    about: 'Logging',
    means: 'Author of the deployed commit, shown with its deploy. `sidejob deploy` sets it.',
    without: 'deploys have no author',
  },
  SIDEJOB_HISTORY: {
    about: 'Lanes',
    means:
      'Number of recorded runs per job, from 1 to 100; a class can override it with `history`. Each run of a job with a history costs extra commands.',
    without: 'only the last ten failed runs; `20` under `sidejob dev`',
  },
  SIDEJOB_HISTORY_DAYS: {
    about: 'Lanes',
    means: 'Days for which the database `HISTORY` keeps ended jobs ([history.md](history.md)).',
    without: '`90`',
  },
  SIDEJOB_HISTORY_RETAIN: {
    about: 'Lanes',
    means:
      'Time for which Redis keeps an ended job, also a failed one, that neither sets `retain` nor has input ports, if there is a history. With `0s` Redis has only jobs that are alive.',
    without: 'one day, or 30 days if it failed',
  },
  SIDEJOB_PRICES: {
    about: 'Lanes',
    means:
      'Price of a run and of a second of it, such as `run=0.00002,second=0.00001`: jobs then report their cost ([cost.md](cost.md#what-one-job-has-cost)).',
    without: 'jobs report the duration of their runs',
  },
  SIDEJOB_LANE_WARM: {
    about: 'Lanes',
    means: 'Time that a lane waits for more work in a busy queue. `0s` switches waiting off.',
    without: '`10s`; `0s` under `sidejob dev`',
  },
  SIDEJOB_LANE_REQUESTS: {
    about: 'Lanes',
    means:
      'Number of requests after which a lane hands over, without requests of your functions. Set `40` on Workers Free, where an invocation may send 50.',
    without: '`5000`',
  },
  SIDEJOB_LOG: {
    about: 'Logging',
    means: 'Runs that write a line of JSON to the log of the Worker: `failed`, `all` or `none`.',
    without: '`failed`',
  },
  SIDEJOB_HEARTBEAT_URL: {
    about: 'Logging',
    means: 'Address that each successful tick calls ([alerts.md](alerts.md#a-missing-tick)).',
    without: 'no monitor is called',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about: 'Logging',
    means:
      'Base address of an OpenTelemetry receiver over HTTP, to which traces of jobs are sent ([traces.md](traces.md)).',
    without: 'no traces',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    about: 'Logging',
    means: 'Headers of these requests, such as `x-honeycomb-team=<key>`, separated by commas.',
    without: 'none',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    about: 'Logging',
    means: 'Share of traces that are sent, from 0 to 1. A `traceparent` of the caller decides for its jobs.',
    without: '`1`',
  },
  OTEL_SERVICE_NAME: { about: 'Logging', means: 'Name of the service in traces.', without: '`sidejob`' },
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
    means: 'Base of public addresses of files, unsigned and without expiry: `<url>/<folder>/<id>`.',
    without: 'addresses are signed and expire',
  },
  SIDEJOB_DOWNLOAD_MAX_BYTES: { about: 'Files', means: 'Bytes of the largest download.', without: '1 GiB' },
  SIDEJOB_FILE_RETENTION: {
    about: 'Files',
    means: 'Retention of a file after its callback was delivered. Without a callback it is kept for 30 days.',
    without: '`3h`',
  },
  SIDEJOB_KAFKA_REST_URL: {
    about: 'Files',
    means: "A Kafka REST proxy, for Downloader's callbacks of type `kafka`.",
    without: 'such callbacks are refused',
  },
  SIDEJOB_S3_ACCESS_KEY_ID: { about: 'Files', means: 'Access key for downloads into S3 buckets.', without: 'none' },
  SIDEJOB_S3_SECRET_ACCESS_KEY: { about: 'Files', means: 'Its secret.', without: 'none' },
  SIDEJOB_S3_BUCKETS: {
    about: 'Files',
    means: 'Buckets that jobs may use: `name` at AWS, `https://host/name` elsewhere; `*` matches any text.',
    without: 'none',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
