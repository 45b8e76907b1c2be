// docs/settings.md is generated from this table. The Worker contains only the names.

export type Setting = {
  about: 'Redis' | 'QStash' | 'Access' | 'Webhooks' | 'Lanes' | 'Files' | 'Logging'
  means: string
  /** Effect of a missing setting. If a `required` setting is missing, the deployment answers 503. */
  without: string
}

const given = { without: 'required' } as const

export const settings = {
  UPSTASH_REDIS_REST_URL: { about: 'Redis', means: 'Address of the Redis database.', ...given },
  UPSTASH_REDIS_REST_TOKEN: { about: 'Redis', means: 'Token of the Redis database, with write access.', ...given },
  SIDEJOB_ENCRYPTION_KEY: {
    about: 'Redis',
    means:
      'Key that encrypts args, state, values, results, steps and errors before they go to Redis: 32 bytes in base64, for example from `openssl rand -base64 32`. During a rotation, set the new key first and then the old keys, separated by commas ([security.md](security.md#values-at-rest)).',
    without: 'these values are stored unencrypted',
  },
  SIDEJOB_NAMESPACE: {
    about: 'Redis',
    means: 'Prefix of all keys in Redis. Deployments with different prefixes can share a database, but share no data.',
    without: '`sidejob:`; `sidejob deploy` sets `<name>:`',
  },
  QSTASH_TOKEN: { about: 'QStash', means: 'QStash token that sidejob uses to send bells.', ...given },
  QSTASH_CURRENT_SIGNING_KEY: { about: 'QStash', means: 'Key that QStash uses to sign its calls.', ...given },
  QSTASH_NEXT_SIGNING_KEY: {
    about: 'QStash',
    means: 'Key that QStash will use after the next rotation.',
    ...given,
  },
  QSTASH_URL: { about: 'QStash', means: 'Address of the QStash region.', without: "QStash's default region" },
  PUBLIC_URL: {
    about: 'QStash',
    means: 'Public address of the Worker, with or without the mount.',
    without: 'required; `sidejob deploy` finds the address',
  },
  SIDEJOB_API_KEY: {
    about: 'Access',
    means: 'API key of the deployment, with all rights. Create other keys with `POST /v1/keys`.',
    without: 'none; `sidejob deploy` and `sidejob dev` create a key',
  },
  SIDEJOB_ORIGINS: {
    about: 'Access',
    means: 'Origins whose pages may call the API, separated by commas; `*` allows all ([edges.md](edges.md)).',
    without: "only the deployment's own origin",
  },
  SIDEJOB_ALLOW_HOSTS: {
    about: 'Access',
    means:
      'Internal hosts that sidejob may call: `host:port`, or `host` for all its ports. `downloads=host:port` allows a host for one use (`workers`, `callbacks` or `downloads`).',
    without: 'public addresses only',
  },
  SIDEJOB_WEBHOOK_SECRET: {
    about: 'Webhooks',
    means:
      'Secret that signs calls to push workers and callbacks (`whsec_…`). The secret of each endpoint is derived from it. During a rotation, set two secrets, separated by a comma.',
    without: 'derived from the token of Redis',
  },
  SIDEJOB_WEBHOOK_SIGNATURES: {
    about: 'Webhooks',
    means: '`endpoint` signs each call only with the secret of its endpoint.',
    without: 'calls also have a signature with `SIDEJOB_WEBHOOK_SECRET`, if it is set',
  },
  SIDEJOB_DISPATCH: {
    about: 'Lanes',
    means:
      '`eager` starts the lane of a job in the request that creates the job, without QStash. Applies to jobs with a `timeout` of at most 27 s (the default is 30 s); longer jobs get a bell.',
    without: '`bell`',
  },
  SIDEJOB_LANE_BUDGET: {
    about: 'Lanes',
    means: 'Time after which a lane hands its work over to a new lane.',
    without: '`25s`',
  },
  SIDEJOB_LANE_LEASE: {
    about: 'Lanes',
    means: 'Duration of the lease of a run. A lane renews the leases of its runs; a run whose lease expires is lost.',
    without: '`45s`; `10s` under `sidejob dev`',
  },
  SIDEJOB_MAX_LOST: {
    about: 'Lanes',
    means:
      'Number of consecutive lost runs after which a job of a function fails; a class can override it with `maxLost`. Does not apply to classes with `isolate`, whose default is 2.',
    without: '`10`; `3` under `sidejob dev`',
  },
  SIDEJOB_VERSION: {
    about: 'Logging',
    means:
      'Version of the code, such as a commit. Each run records it, and the dashboard compares versions. `sidejob deploy` sets it to the commit of the folder.',
    without: "the tag or id of Cloudflare's version, if the binding `CF_VERSION_METADATA` exists",
  },
  SIDEJOB_VERSION_URL: {
    about: 'Logging',
    means:
      "Address that reaches only this version, for classes with `pin`; `{id}` is the first part of the id of Cloudflare's version ([changing-code.md](changing-code.md#pin-a-class)). `sidejob deploy` sets it if `preview_urls` is true.",
    without: 'a deployment with pinned classes answers 500',
  },
  SIDEJOB_AUTHOR: {
    about: 'Logging',
    means: 'Author of the deployed commit, shown with its deploy. `sidejob deploy` sets it.',
    without: 'deploys show no author',
  },
  SIDEJOB_HISTORY: {
    about: 'Lanes',
    means:
      'Number of recorded runs per job, from 1 to 100; a class can override it with `history`. Each run of a job with a history costs extra commands.',
    without: 'only the last ten failed or lost runs are recorded; `20` under `sidejob dev`',
  },
  SIDEJOB_HISTORY_DAYS: {
    about: 'Lanes',
    means: 'Days to keep ended jobs in the database `HISTORY` ([history.md](history.md)).',
    without: '`90`',
  },
  SIDEJOB_HISTORY_RETAIN: {
    about: 'Lanes',
    means:
      'With a history: time to keep a failed job in Redis, and any other ended job without `retain` and input ports. With `0s`, Redis has only unfinished jobs.',
    without: 'one day, or 30 days for a failed job',
  },
  SIDEJOB_PRICES: {
    about: 'Lanes',
    means:
      'Price of a run and of a second of run time, such as `run=0.00002,second=0.00001`. Jobs then report their cost ([cost.md](cost.md#what-one-job-has-cost)).',
    without: 'jobs report only the duration of their runs',
  },
  SIDEJOB_LANE_WARM: {
    about: 'Lanes',
    means: 'Time that a lane of a busy queue waits for more work. `0s` turns waiting off.',
    without: '`10s`; `0s` under `sidejob dev`',
  },
  SIDEJOB_LANE_REQUESTS: {
    about: 'Lanes',
    means:
      'Number of requests after which a lane hands its work over to a new lane, not counting requests of your functions. Set `40` on Workers Free, where an invocation may send 50.',
    without: '`5000`',
  },
  SIDEJOB_LOG: {
    about: 'Logging',
    means: 'Selects the runs that write a line of JSON to the log of the Worker: `failed`, `all` or `none`.',
    without: '`failed`; `all` under `sidejob dev`',
  },
  SIDEJOB_HEARTBEAT_URL: {
    about: 'Logging',
    means: 'Address that each successful tick calls ([alerts.md](alerts.md#a-missing-tick)).',
    without: 'no monitor is called',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    about: 'Logging',
    means:
      'Base address of the OpenTelemetry receiver (OTLP over HTTP) to which traces of jobs are sent ([traces.md](traces.md)).',
    without: 'no traces',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    about: 'Logging',
    means: 'Headers for requests to the OpenTelemetry receiver, such as `x-honeycomb-team=<key>`, separated by commas.',
    without: 'none',
  },
  OTEL_TRACES_SAMPLER_ARG: {
    about: 'Logging',
    means:
      'Share of traces to send, from 0 to 1. If a caller sends a `traceparent`, its sampling flag applies to the jobs of the call.',
    without: '`1`',
  },
  OTEL_SERVICE_NAME: { about: 'Logging', means: 'Name of the service in traces.', without: '`sidejob`' },
  SIDEJOB_TEST_CLOCK: {
    about: 'Logging',
    means:
      '`1` adds `POST /v1/test/clock`, which moves every clock of a local stack. `sidejob deploy` refuses this setting.',
    without: 'the route does not exist',
  },
  SIDEJOB_FILES_SECRET: {
    about: 'Files',
    means: 'Secret that signs the ids and addresses of files. After a change, earlier ids and addresses stop working.',
    without: 'derived from the token of Redis',
  },
  SIDEJOB_DOWNLOAD_URL: {
    about: 'Files',
    means: 'Base URL for public addresses of files, which are unsigned and do not expire: `<url>/<folder>/<id>`.',
    without: 'addresses are signed and expire',
  },
  SIDEJOB_DOWNLOAD_MAX_BYTES: { about: 'Files', means: 'Maximum size of a download, in bytes.', without: '1 GiB' },
  SIDEJOB_FILE_RETENTION: {
    about: 'Files',
    means:
      'Time to keep a file that was requested through `/downloader` after its callback was delivered. All other files are kept for 30 days, or as long as `keep` of the job sets.',
    without: '`3h`',
  },
  SIDEJOB_KAFKA_REST_URL: {
    about: 'Files',
    means: "Address of a Kafka REST proxy, for Downloader's callbacks of type `kafka`.",
    without: 'such callbacks are refused',
  },
  SIDEJOB_S3_ACCESS_KEY_ID: { about: 'Files', means: 'Access key for downloads into S3 buckets.', without: 'none' },
  SIDEJOB_S3_SECRET_ACCESS_KEY: { about: 'Files', means: 'Secret of `SIDEJOB_S3_ACCESS_KEY_ID`.', without: 'none' },
  SIDEJOB_S3_BUCKETS: {
    about: 'Files',
    means: 'Buckets that jobs may use: `name` on AWS, `https://host/name` elsewhere; `*` matches any characters.',
    without: 'none',
  },
} as const satisfies Record<string, Setting>

export type SettingName = keyof typeof settings
