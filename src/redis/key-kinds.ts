// docs/keys.md is generated from this table.

import { keptSteps } from '../core/series.ts'

/** `~` is the namespace. */
export const kinds = {
  '~jobs:last_id': ['string', 'the last assigned id'],
  '~jobs:highest': ['string', 'a second copy of the last assigned id'],
  '~jobs:largest': ['string', 'size of the largest document so far, if it exceeds 64 KiB'],
  '~jobs:aliases': ['hash', 'alias → id'],
  '~job:<id>': ['string', 'document of a job: a flat map of strings, as JSON'],
  '~jobs:<n>': [
    'string',
    'a piece: up to 100 jobs of one call that differ only in their args, with the ids n00 to n99. It has five lines: a mask of the remaining jobs; the sequence of the first job; the state of the jobs; their common fields; their args',
  ],
  '~job:<id>:in:<port>, :out:<port>': ['list', 'waiting values, oldest first, if they exceed 512 bytes in total'],
  '~job:<id>:f:<field>': [
    'string',
    'a value of the document above 512 bytes, or above 1 KiB for args of jobs that were created in pieces',
  ],
  '~job:<id>:children': ['hash', 'name → id,status,class'],
  '~job:<id>:waiting': ['set', 'ids of the children that the job waits for'],
  '~job:<id>:steps': [
    'hash',
    'step → @ and the time at which it was stored, its duration and the number of the run, separated by commas; the next line has its result',
  ],
  '~job:<id>:runs': [
    'list, capped',
    'last runs of the job, oldest first. Each has the members of `lr`, its token, 1 if it was retried, and its worker; the next line has its error. For a job with a history, + follows in one more line with the number of the run, the time at which the job became ready, the number of commits before the end, and the effects',
  ],
  '~job:<id>:inputs': [
    'string',
    'for a job with a history: inputs of the last run that read values, by port, as JSON; absent if they exceed 64 KiB',
  ],
  '~job:<id>:log': ['stream, capped', 'log of a job with a history: the level, and the entry in the next line'],
  '~job:<id>:record': [
    'stream, capped',
    'for a recorded flow: status changes of its nodes and changes in the numbers of values at their ports; each script adds one entry',
  ],
  '~queues': ['set', 'names of queues'],
  '~queue:<q>': ['string', 'settings, lanes and counts of a queue, as JSON'],
  '~queue:<q>:ready, :ready:pull': [
    'zset',
    'priority → sequence:id; with ageing, the score is priority × ageing + the time at which the job became ready',
  ],
  '~queue:<q>:timers': ['zset', 'time at which the job becomes due → id'],
  '~queue:<q>:leases': ['zset', 'lease end → id, except for leases in the record of the queue'],
  '~queue:<q>:suspended, :completed, :failed, :terminated': ['zset', 'time after which the job may be removed → id'],
  '~queue:<q>:errors': [
    'zset',
    '0 → kind:id of a failed job; the id has 16 digits, and the kind is empty until it is known',
  ],
  '~queue:<q>:waiters': ['zset', 'end of the wait → waiting claim and its classes'],
  '~counts:<q>:m<n>, :h<n>': [
    'string',
    `all counts of a queue at the first event of a minute (one of the last ${keptSteps.minute}) or an hour (one of the last ${keptSteps.hour}): the time, the longest wait before it, and the counts`,
  ],
  '~counts:<q>:c, :b': [
    'string',
    'counts by class of the last two days with events: the day, and one line for each of the first hundred classes; all other classes share one line without a name',
  ],
  '~counts:<q>:k<n>': [
    'string',
    'counts by class of a day at the first event of an hour (one of the last 24): the hour, and the counts in the next lines',
  ],
  '~counts:<q>:e': [
    'string',
    'the hundred kinds of error that occurred last, one per line: the kind, the class, the first and the last failure, and the number of jobs by minute, or by quarter of an hour for older failures',
  ],
  '~days': ['hash', 'day → counts of the day and waiting times of runs, by queue, as JSON; kept for five years'],
  '~lane:<L>': ['string', "the number of a lane's last request, and its answer as JSON"],
  '~wake': [
    'zset',
    'time of the next check → q:<queue>, k:<limit>, or c:<cursor>:<constraint>. Two other entries have the time 0: d:<deployment> with the hash of its announcement, and, if tenants exist, d:tenants',
  ],
  '~limit:<key>': ['string', 'settings of a limit, its room, and the turns of its groups, as JSON'],
  '~limit-held:<key>': ['zset', 'lease end → id of a job that holds a slot'],
  '~limit-window:<key>': ['zset', 'start of a run → its token, for runs that started in the current period of a rate'],
  '~limit-waiting:<key>': [
    'zset',
    'priority after ageing, in whole steps → turn:id. The entries of a group have the same form as in `ready`',
  ],
  '~limits': ['set', 'keys of limits'],
  '~constraints': ['string', 'version and matchers, as JSON'],
  '~repeats': ['zset', 'next slot → id of a job that repeats'],
  '~workers:<q>': ['hash', 'class → its definition, as JSON'],
  '~channels': ['hash', 'channel → number of listening ports, and the id of its relay if it has one'],
  '~audience:<channel>': ['string', 'like `~channels`, with the listening ports if there are few'],
  '~channel:<name>': ['zset', 'id:port of each listener, sorted by name'],
  '~messages': ['zset', 'minute of the last kept message → its channel'],
  '~message:<channel>': [
    'string',
    'the last kept message: its time, its bytes, and the numbers of messages as minute:count:count …, at most ten, newest first; the next lines have the item, unless it exceeds 4 KiB',
  ],
  '~hints': ['string', 'listeners of system channels, expiry of external listeners, version of the constraints'],
  '~listened': ['string', 'channels with external listeners and their expiry, one per line'],
  '~schema': ['string', 'number of the schema of the data'],
  '~epoch': [
    'string',
    'number of restores of older data; for the last restore, the time at which it was found, and the lost ids',
  ],
  '~result:<id>': ['string, expires', 'a kept result'],
  '~once:<key>': ['string, expires', 'the stored answer of a call with an idempotency key'],
  '~again:<n>': [
    'string',
    'answers that are kept for at most ten minutes, 4 KiB in total. Each line has the expiry, the fingerprint of the body, the answer, and the idempotency key',
  ],
  '~unique:<scope>': [
    'string',
    'id of the job that holds a unique key; for an expiring key also its expiry, and the status of the job when it was removed',
  ],
  '~gone:<token>': ['string, expires', 'the stored answer of a commit whose job was deleted'],
  '~keys': [
    'hash',
    'id of an API key → its hash, name, scopes, limits and expiry; `used:<id>` → the time of its last use',
  ],
  '~quota:<key>': [
    'string',
    'for an API key, or for all keys of a tenant (`tenant`): number of unfinished jobs, total of their bytes beyond 1 KiB per job, and the maximum of both',
  ],
  '~quota:<key>:kept': [
    'string',
    'for an API key: bytes of its jobs at rest and its stored graphs, then the current quarter of a day and the bytes of expiring values in this quarter and the four before',
  ],
  '~audit': ['stream, capped', 'requests of admins: caller, time, route and path'],
  '~processes': [
    'hash',
    'name of a pull worker → time of its first and last contact, its signal, and its queues, one per line',
  ],
  '~tenants': ['hash', 'tenant → its creation time and limits; the keys of the tenant begin with `~t:<tenant>:`'],
  '~log': ['stream, capped', 'the log'],
  '~live:<channel>, ~call:<waiter>, ~ended:<id>': [
    'pub/sub',
    'messages for external listeners; calls to waiting claims; ends of jobs, for callers that wait for a result',
  ],
  '~breaker:<host>': [
    'string',
    'number of consecutive failures of a host, and the time until which its breaker is open; kept for a day. `<host>` is a callback host, or `push/` followed by a host of push workers',
  ],
  '~breakers': ['zset', 'time at which the breaker last opened → host'],
  '~outbox': [
    'string',
    'with a history: number of the first unstored entry and of the next new entry, total bytes, the time at which a deployment last read them, and the retention of ended jobs in Redis if it is set',
  ],
  '~outbox:<n>': [
    'string',
    'ended jobs and runs of one script, one per line, as JSON: `e`, `p` or `r`, the id, the record, and the result, error or run',
  ],
  '~views': ['hash', 'name of a shared view of the page Jobs → its query, its owner and the time of sharing, as JSON'],
  '~alerts': [
    'hash',
    'alert → the times at which it was found and sent, and the key that acknowledged or muted it, as JSON',
  ],
  '~sources': [
    'hash',
    'for stack traces: build → positions of your files in the bundle and their source lines, as JSON; only the newest five builds are kept',
  ],
  '~muted': [
    'hash',
    'muted kind of error → the class of its jobs, the API key that muted it, and the start and end of the mute, as JSON',
  ],
  '~deployed': [
    'hash',
    'deployment → its versions with their classes, newest first, the time at which each became the newest, and its last 20 deploys, as JSON',
  ],
  '~deploys': ['hash', 'deployment and time of a deploy → counts by class at that time, as JSON'],
  '~versions': [
    'hash',
    'version with pinned classes → its address, and the time at which it announced itself, as JSON; only the newest 100 are kept',
  ],
  '~bells': ['string, expires', 'number of consecutive requests refused by QStash, and the reason, as JSON'],
  '~ticked': ['string', 'time of a recent tick; every other tick writes it'],
  '~heart': ['string', 'the source of the tick in `~ticked`: `cron` or `qstash`'],
  '~rung': ['string', 'time of the last bell that started a lane'],
  '~examined': ['string', 'time of the last repair, and the slices with remaining faults, as JSON'],
  '~unreadable': ['string', 'at most 100 unreadable records, one per line: the time of the discovery, and the key'],
  '~unreadable:<key>': ['string', 'damaged text of a record, kept after the record was replaced'],
  '~room': [
    'none',
    'a key that never exists: scripts that free memory delete it first, so that a full Redis accepts their writes',
  ],
  '~session:<hash>': [
    'string, expires',
    'hash of the API key of a session, or `once` and that hash for a login link; `<hash>` is the hash of the name in the cookie or link',
  ],
  '~flags': ['set', 'names of the switches that are on'],
  '~flows': ['hash', 'name → a stored graph, as JSON'],
  '~flows:by': ['hash', 'name of a stored graph → the API key that stored it, and its bytes'],
} as const satisfies Record<string, readonly [string, string]>
