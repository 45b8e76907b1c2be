// docs/keys.md is generated from this table.

import { keptSteps } from '../core/series.ts'

/** `~` is the namespace. */
export const kinds = {
  '~jobs:last_id': ['string', 'the last id that was given'],
  '~jobs:highest': ['string', 'the same, in case the other copy is lost'],
  '~jobs:largest': ['string', 'the size of the largest document that was ever above 64 KiB'],
  '~jobs:aliases': ['hash', 'alias → id'],
  '~job:<id>': ['string', "the job's document: a flat map of strings, as JSON"],
  '~jobs:<n>': [
    'string',
    'a piece: up to 100 jobs of one call that are alike but for their args, those with the ids n00 to n99. Five lines: the remaining ones; the sequence of the first; their state; common parts; their args',
  ],
  '~job:<id>:in:<port>, :out:<port>': ['list', 'waiting values, oldest left, if they are over 512 bytes together'],
  '~job:<id>:f:<field>': [
    'string',
    'a value of the document that is over 512 bytes; args of jobs that were made in pieces: over 1 KiB',
  ],
  '~job:<id>:children': ['hash', 'name → id,status,class'],
  '~job:<id>:waiting': ['set', 'ids of the children that are waited for'],
  '~job:<id>:steps': [
    'hash',
    'step → @when it was kept,how long it took,number of the run; its result in the next line',
  ],
  '~job:<id>:runs': [
    'list, capped',
    'its last runs, oldest left: as in `lr`, then token, 1 when it was tried again, who performed it; and its error in the next line. For a job with a history then + and its number, the time since which it had been ready, its number of commits before the end, and its effects',
  ],
  '~job:<id>:inputs': [
    'string',
    'for a job with a history: inputs taken by the last run that took some, by port; absent above 64 KiB; as JSON',
  ],
  '~job:<id>:log': ['stream, capped', 'log of a job with a history: the level, and the entry in the next line'],
  '~job:<id>:record': [
    'stream, capped',
    'for a recorded flow: moves of its nodes and changes of values waiting at their ports, an entry for each script',
  ],
  '~queues': ['set', 'names of queues'],
  '~queue:<q>': ['string', 'settings, lanes and counts of a queue, as JSON'],
  '~queue:<q>:ready, :ready:pull': [
    'zset',
    'priority, with ageing times that and the moment of becoming ready → sequence:id',
  ],
  '~queue:<q>:timers': ['zset', 'the moment that decides → id'],
  '~queue:<q>:leases': ['zset', 'lease end → id, but for those in the record of the queue'],
  '~queue:<q>:suspended, :completed, :failed, :terminated': ['zset', 'when it may be removed → id'],
  '~queue:<q>:errors': [
    'zset',
    'failed jobs by kind of error, all with the score 0 → kind:id, the id with 16 digits; the kind is empty until it is known',
  ],
  '~queue:<q>:waiters': ['zset', 'claims that wait: until when → who, for which classes'],
  '~counts:<q>:m<n>, :h<n>': [
    'string',
    `all counts of a queue as they were at the first one of a minute (of the last ${keptSteps.minute}) or an hour (of ${keptSteps.hour}): that moment, the longest wait before it, and the counts`,
  ],
  '~counts:<q>:c, :b': [
    'string',
    'counts by class of the last two days with events: the day, and a line for each of the first hundred classes; further classes share a line without a name',
  ],
  '~counts:<q>:k<n>': [
    'string',
    'counts by class of a day, as of the first count of an hour (of the last 24): that hour, and the text in the lines after it',
  ],
  '~counts:<q>:e': [
    'string',
    'the hundred kinds of errors that failed last: a line each with the kind, the class, the first and the last failure, and the number of jobs by minute, older ones by quarter of an hour',
  ],
  '~days': ['hash', 'day → queue → counts of the day and waiting times of runs, as JSON; for five years'],
  '~lane:<L>': ['string', "the number of a lane's last request, and its answer as JSON"],
  '~wake': [
    'zset',
    'time of the next check → q:<queue> or k:<limit>; at 0 d:<deployment> with the hash of its announcement, and d:tenants if tenants exist',
  ],
  '~limit:<key>': ['string', 'settings of a limit, its room, and the turns that were given, as JSON'],
  '~limit-held:<key>': ['zset', 'lease end → id of a job that holds a slot'],
  '~limit-window:<key>': ['zset', 'start → token, within the period of a rate'],
  '~limit-waiting:<key>': [
    'zset',
    'priority, aged in whole steps → turn:id; at the limit of its own group as in ready → sequence:id',
  ],
  '~limits': ['set', 'keys of limits'],
  '~constraints': ['string', 'version and matchers, as JSON'],
  '~repeats': ['zset', 'next slot → id of a job that repeats'],
  '~workers:<q>': ['hash', 'class → its definition, as JSON'],
  '~channels': ['hash', 'channel → number of listening ports, and the id of its relay if it has one'],
  '~audience:<channel>': ['string', 'the same, and the ports that listen as long as they are few'],
  '~channel:<name>': ['zset', 'id:port, in the order of their names'],
  '~messages': ['zset', 'minute → channel of which something was last kept then'],
  '~message:<channel>': [
    'string',
    'the last message that was to be kept: when, bytes and how many came, minute:count:count …, ten at most, the newest first; in the lines after it the item, unless it has more than 4 KiB',
  ],
  '~hints': ['string', 'listeners of system channels, expiry of listeners outside, version of the constraints'],
  '~listened': ['string', 'channels with listeners outside, and their expiry: a line each'],
  '~schema': ['string', 'number of the schema of the data'],
  '~epoch': ['string', 'number of detected restores of older data; the time of the last, and the range of lost ids'],
  '~result:<id>': ['string, expires', 'a result that is kept'],
  '~once:<key>': ['string, expires', 'the answer of an idempotent call'],
  '~again:<n>': [
    'string',
    'a line each, at most 4 KiB: until when an answer holds that is kept for ten minutes or less, for which body, the answer, and the key of its call',
  ],
  '~unique:<scope>': [
    'string',
    'id of the job that holds a unique key; for an expiring key also its expiry, and the status of the job when it was removed',
  ],
  '~gone:<token>': ['string, expires', 'the answer of a commit whose job is deleted'],
  '~keys': ['hash', 'id of an API key → its hash, name, scopes, limits and end; `used:<id>` → when it was last used'],
  '~quota:<key>': [
    'string',
    'for an API key, or for all keys of a tenant (`tenant`): its unfinished jobs, their bytes beyond 1 KiB each, and the maximum of both',
  ],
  '~quota:<key>:kept': [
    'string',
    'for an API key: bytes of its jobs at rest and stored graphs, then a quarter of a day, and bytes of texts that expire, of that quarter and the four before',
  ],
  '~audit': ['stream, capped', 'requests of admins: caller, time, route and path'],
  '~processes': [
    'hash',
    'program that asks for work under a name → since,heard,signal, and the queues that it asks, a line each',
  ],
  '~tenants': ['hash', 'tenant → since when there is one, and its limits; its own keys begin with `~t:<tenant>:`'],
  '~log': ['stream, capped', 'the log'],
  '~live:<channel>, ~call:<waiter>, ~ended:<id>': [
    'pub/sub',
    'messages for listeners outside; calls to waiting claims; ends of jobs, to callers that wait for a result',
  ],
  '~breaker:<host>': [
    'string',
    'consecutive failures and the end of the open state, of a callback host, or `push/` and a host of push workers; for a day',
  ],
  '~breakers': ['zset', 'when it was opened last → host whose breaker is open'],
  '~outbox': [
    'string',
    'with a history: numbers of the first text that it has not stored and of the next one, bytes of all, when a deployment last read them, and the time for which ended jobs stay, if it is set',
  ],
  '~outbox:<n>': [
    'string',
    'ended jobs and runs of one script, a line each, as JSON: `e`, `p` or `r`, the id, the record, and the result, error or run',
  ],
  '~views': [
    'hash',
    'name of a shared view of the list of jobs → its query, whose it is and when it was shared, as JSON',
  ],
  '~alerts': ['hash', 'alert → when it was found and told, who acknowledged or muted it, as JSON'],
  '~sources': [
    'hash',
    'build → places of its own files in the bundle and their lines, as JSON, for stacks of errors; the newest five builds',
  ],
  '~muted': [
    'hash',
    'muted kind of errors → the class of its jobs, the key that muted it, its start and its end, as JSON',
  ],
  '~deployed': [
    'hash',
    'deployment → its versions with their classes, newest first, when each became the newest, and its last 20 deploys, as JSON',
  ],
  '~deploys': ['hash', 'deployment and time of a deploy → the counts by class at that time, as JSON'],
  '~versions': [
    'hash',
    'version with pinned classes → its address, and when it announced itself, as JSON; the newest 100',
  ],
  '~bells': ['string, expires', 'number of consecutive requests refused by QStash, and the reason, as JSON'],
  '~ticked': ['string', 'when a tick came, written by each second one'],
  '~heart': ['string', 'the source of that tick: `cron` or `qstash`'],
  '~rung': ['string', 'when a bell came that became a lane'],
  '~examined': ['string', 'when a repair looked last, and the slices in which it left something, as JSON'],
  '~unreadable': [
    'string',
    'records that could not be read, at most 100: when that was noticed, and the key, a line each',
  ],
  '~unreadable:<key>': ['string', 'the former text of a record that was replaced'],
  '~room': [
    'none',
    'never exists: a script that makes room deletes it first, so that a full Redis accepts what follows',
  ],
  '~session:<hash>': [
    'string, expires',
    'the hash of the API key of a login, by the hash of the name given to the person; `once` before it if the name is valid for one session',
  ],
  '~flags': ['set', 'switches that are on'],
  '~flows': ['hash', 'name → a stored graph, as JSON'],
  '~flows:by': ['hash', 'name of a stored graph → the API key that stored it, and its bytes'],
} as const satisfies Record<string, readonly [string, string]>
