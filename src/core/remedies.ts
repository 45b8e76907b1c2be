import type { Code } from './errors.ts'

/** docs/errors.md is generated from this table. */
export const remedies: Record<Code, { means: string; remedy: string }> = {
  BAD_REQUEST: {
    means: 'the request does not match the schema of the route',
    remedy: '`path` names the field; the message states the expected and the received value',
  },
  UNAUTHENTICATED: {
    means: 'the API key is missing or invalid',
    remedy: 'send `Authorization: Bearer <key>`; keys that were revoked or have expired are invalid',
  },
  FORBIDDEN: {
    means: 'the key lacks a scope, or the run is not allowed to change the job',
    remedy:
      'use a key with the scope that the message names; register the worker with `reach: all` if its runs change jobs in other trees',
  },
  NOT_FOUND: {
    means: 'no job, name or route matches',
    remedy: 'check the id; an ended job is deleted when its `retain` has passed',
  },
  WRONG_METHOD: {
    means: 'the path exists, but not with this method',
    remedy: 'use one of the methods that the `Allow` header lists',
  },
  BUSY: {
    means: 'the job is in use by a run, a lock or another call',
    remedy: 'try again after the time in the message, or when the run has ended',
  },
  TAKEN: {
    means: 'the alias, child name or idempotency key is in use',
    remedy: 'choose another name; repeat an idempotency key only with the same body',
  },
  WRONG_STATUS: {
    means: 'the status of the job does not allow this call',
    remedy: 'the message names the status; README.md shows all transitions',
  },
  CONFLICT: {
    means: 'the data has changed since the caller read it',
    remedy: 'read the data again, then decide whether to repeat the change',
  },
  SCHEMA_CHANGED: {
    means:
      'the caller was built against another schema of the class, and this value does not fit; `schema` has both hashes',
    remedy:
      '`path` names the value that does not fit; build and deploy the caller again with the current definition of the class',
  },
  LOST: {
    means: 'the run is over: its lease expired, or another worker has the job',
    remedy: 'stop working on the run; its changes are discarded, and the job runs again',
  },
  CHANGED: {
    means: 'the current version is not the version in `If-Match`',
    remedy: 'get the current version and apply the change to it; the message names both versions',
  },
  TOO_LARGE: {
    means: 'a value, a request or a job is larger than sidejob or Redis allows',
    remedy:
      'send less at a time, or store the bytes in a file or bucket and pass its address; docs/limits.md lists all limits',
  },
  UNSUPPORTED: {
    means: 'the content type of the request is not supported',
    remedy: 'send JSON or MessagePack, and set `Content-Type`',
  },
  REFUSED: {
    means: 'the request is well formed, but names a class, port or value that does not exist or is not allowed',
    remedy: 'the message states the expected value; `path` names the field',
  },
  LIMITED: {
    means: 'a limit of the API key, the job family or the vendor is reached',
    remedy: 'wait `Retry-After` seconds; read values that wait at ports, or create fewer jobs below one root',
  },
  INTERNAL: {
    means: 'sidejob had an internal error',
    remedy: 'please open an issue, with the cause from the log of the deployment',
  },
  UNREADABLE: {
    means: 'the record of this job in Redis is damaged',
    remedy:
      'repair the record with `sidejob doctor --repair --yes`, or delete the job with `DELETE /v1/jobs/{id}?force=true`; docs/doctor.md explains both',
  },
  MISCONFIGURED: {
    means: 'the configuration of the deployment is wrong, for example a token that the vendor refuses',
    remedy: 'the message names the variable; `sidejob doctor` and `/health` check all variables',
  },
  UNAVAILABLE: {
    means: 'Redis did not answer, or the deployment is not configured yet',
    remedy: 'try again after `Retry-After` seconds; a request with an idempotency key is safe to repeat',
  },
  FULL: {
    means: 'the database is full, or the quota of its plan is used up',
    remedy: 'delete jobs that are kept too long (`retain`), or choose a larger plan; jobs continue when there is room',
  },
}
