export const NO_VERSION = 'VERSION'

const FORCED = '`POST /v1/jobs/:job/run { "force": true }` runs the job anyway'

/** docs/troubleshooting.md is generated from this table. */
export const reasons = {
  QUEUED: {
    means: 'other ready jobs are ahead of the job, or no lane has started yet',
    remedy:
      'add `lanes` to the queue (`sidejob queues set`), lower the `priority` number, or wait: a lost wake-up is noticed within two minutes',
  },
  PULL: {
    means: 'the job waits for a pull worker that claims its class and tag',
    remedy:
      '`sidejob processes ls` (`GET /v1/processes`) shows which pull workers are `live`; with the `signal` quiet, they claim nothing',
  },
  PAUSED: {
    means: 'the queue of the job is paused',
    remedy: '`sidejob queues resume <queue>`, or `PATCH /v1/queues/:queue { "paused": false }`',
  },
  LIMITED: {
    means: 'a limit of the job is full, paused or closed',
    remedy:
      '`PUT /v1/limits/:key { "paused": false }` if the limit is paused; otherwise raise the limit (`sidejob limits set`), or lower the `priority` number of the job; `GET /v1/limits/:key/holders` lists the runs that hold slots',
  },
  BACKOFF: {
    means: 'the last run failed, was lost or was released, and the job waits for its next attempt',
    remedy:
      '`POST /v1/jobs/:job/run` runs the job now; if `sidejob workers ls` does not list its class, deploy the class',
  },
  DUE: {
    means: 'the job is scheduled for a later time',
    remedy: '`POST /v1/jobs/:job/run` runs the job now',
  },
  REPEAT: {
    means: 'the next slot of its schedule is in the future',
    remedy: '`sidejob schedules run <job>`, or `POST /v1/schedules/:job/run`, runs the job now',
  },
  PAUSED_UNTIL: {
    means: 'its function sleeps until a later time',
    remedy: 'nothing is wrong; `sidejob terminate <job>` ends the job if it should not wake',
  },
  INPUT: {
    means: 'the job waits for a value at an input port',
    remedy:
      '`sidejob send <job> <port> <value>`, or `POST /v1/jobs/:job/in/:port`, writes a value; check the job or client that should have written the value',
  },
  MESSAGE: {
    means: 'its function waits for a message on a channel',
    remedy: '`sidejob channels publish`, or `POST /v1/publish`, sends a message',
  },
  CHILDREN: {
    means: 'the job waits for its children to end',
    remedy: 'ask why the named child is not running; `?deep=3` follows the chain',
  },
  PARENT: {
    means: 'the run that created the job has not ended',
    remedy: 'nothing is wrong: the job starts when that run ends, and is deleted if that run is lost',
  },
  LOCKED: {
    means: 'a client has locked the job',
    remedy: 'the lock expires; `POST /v1/jobs/:job/unlock` with its token removes it now',
  },
  OVERDUE: {
    means: 'the job is due, but its queue has not been checked since',
    remedy:
      'the tick checks the queue within a minute; if not, check `tickAt` in `GET /health?details=true`, then run `sidejob doctor --repair --yes`',
  },
  MISPLACED: {
    means: 'no index of the queue contains the job, so lanes cannot find it',
    remedy: '`sidejob doctor --repair --yes` puts the job back',
  },
  UNREADABLE: {
    means: 'the record of the job in Redis is damaged',
    remedy:
      '`sidejob doctor --repair --yes` repairs the record if enough of it is left; `DELETE /v1/jobs/:job?force=true` deletes the job',
  },
  ENCRYPTED: {
    means: 'the key that encrypted values of the job is missing, so no run can read them',
    remedy: 'add the key to the setting `SIDEJOB_ENCRYPTION_KEY`',
  },
  ASKED_FOR_NOTHING: {
    means: 'the function suspended the job without a condition',
    remedy: '`POST /v1/jobs/:job/run`, a child or input wakes the job',
  },
  COMPLETED: {
    means: 'the job has completed',
    remedy: 'request a run or write new input to run the job again',
  },
  FAILED: {
    means: 'the job failed, and is not retried',
    remedy:
      'the error of the job has the cause; `sidejob retry <job>`, or `POST /v1/jobs/:job/retry`, tries again with all attempts',
  },
  CODE_CHANGED: {
    means: 'the steps and waits of the function no longer match the stored steps and waits',
    remedy:
      'restore the code, or put the change behind `job.patched`, and retry the job ([changing-code.md](changing-code.md))',
  },
  VERSION: {
    means: 'the version of the code to which the job is pinned does not answer',
    remedy:
      'deploy that version again, or rehearse the new code and move the job with `sidejob move` ([changing-code.md](changing-code.md#pin-a-class))',
  },
  INPUT_KEPT: {
    means: 'the job failed, and values wait at an input port',
    remedy: 'nothing is lost: a retry reads these values',
  },
  TERMINATED: {
    means: 'the job was terminated',
    remedy: FORCED,
  },
  CANCELLED: {
    means: 'the job was cancelled',
    remedy: FORCED,
  },
} as const satisfies Record<string, { means: string; remedy: string }>

export type ReasonCode = keyof typeof reasons
