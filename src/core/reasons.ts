export const NO_VERSION = 'VERSION'

/** docs/troubleshooting.md is generated from this table. */
export const reasons = {
  QUEUED: {
    means: 'it is ready, but other jobs are ahead of it or no lane has started yet',
    remedy:
      'add `lanes` to its queue (`sidejob queues set`), lower its `priority` number, or wait: a lost wake-up is noticed within two minutes',
  },
  PULL: {
    means: 'it waits for a pull worker that claims its class, and its tag if it has one',
    remedy:
      '`sidejob processes ls` (`GET /v1/processes`) shows which pull workers are `live`; with the `signal` quiet, they claim nothing',
  },
  PAUSED: {
    means: 'its queue is paused',
    remedy: '`sidejob queues resume <queue>`, or `PATCH /v1/queues/:queue { "paused": false }`',
  },
  LIMITED: {
    means: 'one of its limits is full, paused or closed',
    remedy:
      '`PUT /v1/limits/:key { "paused": false }` if it is paused; otherwise raise it (`sidejob limits set`), or lower the `priority` number of this job; `GET /v1/limits/:key/holders` lists its runs',
  },
  BACKOFF: {
    means: 'its last run failed, was lost or was released, and it waits before the next attempt',
    remedy:
      '`POST /v1/jobs/:job/run` runs it now; if its class is not deployed (`sidejob workers ls` does not list the class), deploy the class',
  },
  DUE: {
    means: 'it is scheduled for a later time',
    remedy: '`POST /v1/jobs/:job/run` runs it now',
  },
  REPEAT: {
    means: 'it repeats, and its next slot is in the future',
    remedy: '`sidejob schedules run <job>`, or `POST /v1/schedules/:job/run`, runs it now',
  },
  PAUSED_UNTIL: {
    means: 'its function sleeps until a later time',
    remedy: 'nothing is wrong; `sidejob terminate <job>` if it should not wake',
  },
  INPUT: {
    means: 'it waits for a value at an input port',
    remedy:
      '`sidejob send <job> <port> <value>`, or `POST /v1/jobs/:job/in/:port`, writes a value; check the job or client that should have written it',
  },
  MESSAGE: {
    means: 'its function waits for a message on a channel',
    remedy: '`sidejob channels publish`, or `POST /v1/publish`, sends one',
  },
  CHILDREN: {
    means: 'it waits for its children to end',
    remedy: 'ask why the named child is not running; `?deep=3` follows the chain',
  },
  PARENT: {
    means: 'it was created by a run that has not ended, and starts when that run ends',
    remedy: 'nothing is wrong; if the run is lost, this job is deleted with it',
  },
  LOCKED: {
    means: 'a client has locked it',
    remedy: 'the lock expires; `POST /v1/jobs/:job/unlock` with its token removes it now',
  },
  OVERDUE: {
    means: 'it is due, but its queue has not been checked since it became due',
    remedy:
      'the tick checks the queue within a minute; if not, check `tickAt` in `GET /health?details=true`, then run `sidejob doctor --repair --yes`',
  },
  MISPLACED: {
    means: 'no index of its queue contains it, so no lane can find it',
    remedy: '`sidejob doctor --repair --yes` puts it back',
  },
  UNREADABLE: {
    means: 'its record in Redis is damaged',
    remedy:
      '`sidejob doctor --repair --yes` repairs it if enough of it is left; `DELETE /v1/jobs/:job?force=true` deletes it',
  },
  ASKED_FOR_NOTHING: {
    means: 'its function suspended it without naming a condition',
    remedy: '`POST /v1/jobs/:job/run`, a child or input wakes it',
  },
  COMPLETED: {
    means: 'it has completed',
    remedy: 'request a run or write new input to run it again',
  },
  FAILED: {
    means: 'it failed, and its attempts are used up',
    remedy:
      'its error has the cause; `sidejob retry <job>`, or `POST /v1/jobs/:job/retry`, tries again with all attempts',
  },
  CODE_CHANGED: {
    means:
      'its function requested a step or wait that differs from the stored one, or returned before it reached a stored step or wait',
    remedy:
      'restore the code, or put the change behind `job.patched`, and retry it ([changing-code.md](changing-code.md))',
  },
  VERSION: {
    means: 'the version of the code to which it is pinned does not answer',
    remedy:
      'deploy that version again, or rehearse the new code and move the job with `sidejob move` ([changing-code.md](changing-code.md#pin-a-class))',
  },
  INPUT_KEPT: {
    means: 'it failed, and values wait at an input port',
    remedy: 'nothing is lost: a retry reads them',
  },
  TERMINATED: {
    means: 'it was terminated',
    remedy: '`POST /v1/jobs/:job/run { "force": true }` runs it anyway',
  },
  CANCELLED: {
    means: 'it was cancelled',
    remedy: '`POST /v1/jobs/:job/run { "force": true }` runs it anyway',
  },
} as const satisfies Record<string, { means: string; remedy: string }>

export type ReasonCode = keyof typeof reasons
