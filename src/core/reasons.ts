// Why a job does not run: every reason that `why` tells, and what would change it.

/** Code → what it says, and what one can do. docs/troubleshooting.md is made of this table. */
export const reasons = {
  QUEUED: {
    means: 'it is ready, and others are before it, or no lane has come yet',
    remedy: 'more `lanes` for its queue, a smaller `priority`, or patience: a lost bell is found within two minutes',
  },
  PULL: {
    means: 'it waits for a program that claims it, with its tag where it has one',
    remedy: 'see at `GET /v1/processes` whether such a program is there, and whether it was told to take nothing more',
  },
  PAUSED: { means: 'its queue is paused', remedy: '`PATCH /v1/queues/:queue { "paused": false }`' },
  LIMITED: {
    means: 'a limit that it counts against is full, paused, or shut',
    remedy: 'see who holds it at `GET /v1/limits/:key`; change the limit, or let this job go first by its priority',
  },
  BACKOFF: {
    means: 'its last run failed, was lost or was given back, and it waits before the next',
    remedy: '`POST /v1/jobs/:job/run` tries at once',
  },
  DUE: { means: 'it was asked to run at that time', remedy: '`POST /v1/jobs/:job/run` runs it now' },
  REPEAT: {
    means: 'it repeats, and its next slot has not come',
    remedy: '`POST /v1/schedules/:job/run` runs it once more',
  },
  PAUSED_UNTIL: {
    means: 'its function sleeps until then',
    remedy: 'nothing is wrong; terminate it when it is not to wake',
  },
  INPUT: {
    means: 'it waits for a value at that port',
    remedy: '`POST /v1/jobs/:job/in/:port` gives one; look at who should have written it',
  },
  MESSAGE: { means: 'its function waits for a message of that channel', remedy: '`POST /v1/publish` sends one' },
  CHILDREN: {
    means: 'it waits for children to end',
    remedy: 'ask `why` of the child that it names; `?deep=3` follows the chain',
  },
  PARENT: {
    means: 'it was made by a run that has not ended, and begins with its end',
    remedy: 'nothing is wrong; a run that is lost lets it go with it',
  },
  LOCKED: {
    means: 'a client has locked it',
    remedy: 'the lock ends by itself; `POST /v1/jobs/:job/unlock` with its token ends it now',
  },
  ASKED_FOR_NOTHING: {
    means: 'its function suspended it without saying what for',
    remedy: '`POST /v1/jobs/:job/run`, a child or input wakes it',
  },
  COMPLETED: { means: 'it is done', remedy: 'a run or new input runs it again' },
  FAILED: {
    means: 'it failed, and its attempts are used up',
    remedy: '`POST /v1/jobs/:job/retry` tries again with its attempts counted anew; its error says what went wrong',
  },
  INPUT_KEPT: {
    means: 'it failed with values still waiting at that port',
    remedy: 'nothing is lost: a retry reads them',
  },
  TERMINATED: { means: 'it was terminated', remedy: '`POST /v1/jobs/:job/run { "force": true }` runs it all the same' },
  CANCELLED: {
    means: 'it was cancelled before it ran',
    remedy: '`POST /v1/jobs/:job/run { "force": true }` runs it all the same',
  },
} as const satisfies Record<string, { means: string; remedy: string }>

export type ReasonCode = keyof typeof reasons
