// What each error says, and what whoever gets it can do: for pages and for people.

import type { Code } from './errors.ts'

export type Remedy = {
  /** What it says. */
  means: string
  /** What whoever gets it can do. */
  remedy: string
}

/** Code → what it says and what to do. docs/errors.md is made of this table. */
export const remedies: Record<Code, Remedy> = {
  BAD_REQUEST: {
    means: 'the request is not of the form that the route takes',
    remedy: 'read `path`, which names the field, and the message, which says what was expected and what came',
  },
  UNAUTHENTICATED: {
    means: 'there is no API key, or none that is known',
    remedy: 'send `Authorization: Bearer <key>`; a key that was removed or has ended is not known any more',
  },
  FORBIDDEN: {
    means: 'the key may not do this, or a run may not reach that job',
    remedy:
      'use a key with the scope that the message names; register the worker with `reach: all` where its runs change jobs of other families',
  },
  NOT_FOUND: {
    means: 'there is nothing under this id, alias or name, or there is no such route',
    remedy: 'check the id; a job that has ended is removed when its `retain` is over',
  },
  WRONG_METHOD: {
    means: 'the path is there, and takes other methods',
    remedy: 'use one of those that the header `Allow` lists',
  },
  BUSY: {
    means: 'a run, a lock or another call holds it at this moment',
    remedy: 'try again when the message says, or when the run has ended',
  },
  TAKEN: {
    means: 'somebody else has this alias, child name or idempotency key',
    remedy: 'choose another name; send an idempotency key with the same body as before',
  },
  WRONG_STATUS: {
    means: 'a job of this status cannot do that',
    remedy: 'the message names the status; README.md draws which moves there are',
  },
  CONFLICT: {
    means: 'what the caller has seen has changed since',
    remedy: 'read it again, and decide anew',
  },
  LOST: {
    means: 'the run is over: its lease has ended, or another worker has the job',
    remedy: 'stop working on it; nothing of it is kept, and the job runs again by itself',
  },
  CHANGED: {
    means: 'what is to be changed is not what the `If-Match` of the caller stands for',
    remedy: 'read it again, see what has changed, and decide anew; the message names both hashes',
  },
  TOO_LARGE: {
    means: 'a value, a request or a job is larger than sidejob or Redis takes',
    remedy: 'split it, or keep the bytes in a file or a bucket and pass its address; docs/limits.md lists the bounds',
  },
  UNSUPPORTED: {
    means: 'the content type is not one that is read here',
    remedy: 'send JSON or MessagePack, and say so in `Content-Type`',
  },
  REFUSED: {
    means:
      'the form is right, and what it asks for cannot be: a class that is not registered, a port that a class does not have, a value that a schema does not allow',
    remedy: 'the message says what was expected; `path` names the place',
  },
  LIMITED: {
    means: 'a limit of the key, of the family or of the vendor is used up',
    remedy: 'wait for `Retry-After` seconds; read what waits, or have fewer jobs below one root',
  },
  INTERNAL: {
    means: 'something failed on our side',
    remedy: 'the log of the deployment has the cause; please open an issue with it',
  },
  MISCONFIGURED: {
    means:
      'the deployment cannot work as it is configured: a token that the vendor does not take, a command that it refuses',
    remedy: 'the message names the variable; `sidejob doctor` and `/health` check all of them',
  },
  UNAVAILABLE: {
    means: 'Redis did not answer, or the deployment is not configured yet',
    remedy: 'try again after `Retry-After` seconds; a request with an idempotency key is safe to repeat',
  },
  FULL: {
    means: 'the database has no room left, or the quota of its plan is used up',
    remedy: 'remove what is kept too long (`retain`), or take a larger plan; jobs go on when there is room',
  },
}
