-- change: what people and other systems do to one job, or to channels: the verbs of lib/ops, all or none of them.
--
-- keys: what is read anyway: the idempotency key, the hints, queues and jobs that are likely to be changed
-- by: API, dashboard, dispatcher
-- reads: audience, channel, constraints, days, hints, job, jobs, lane, limit, listened, once, queue, quota, result, schema, unique, wake, workers
-- writes: audience, channel, channels, counts, days, gone, hints, job, jobs, lane, limit, limits, listened, live, log, once, queue, queues, quota, repeats, result, schema, unique, wake
-- args: ns, clock, seed, once, once_for, fingerprint, job, ...
-- returns: {'done', answer, rings, id, jobs that got a message} | {'again', answer} | {'refused', code, message, after how many seconds to try again or ''}

local aliases = require 'job/aliases'
local quota = require 'limit/quota'
local audience = require 'port/audience'
local log = require 'port/log'
local write = require 'port/write'
local bells = require 'queue/bells'
local ops = require 'run/ops'
local work = require 'run/work'
local args = require 'runtime/args'
local cache = require 'runtime/cache'
local idempotency = require 'runtime/idempotency'
local journal = require 'runtime/journal'
local take, take_int = args.take, args.take_int
local fetch, need = cache.fetch, cache.need
local attempt = journal.attempt

-- Who hears a message is read with everything else.
if ARGV[at + 2] == 'publish' then audience.foresee(ARGV[at + 3], KEYS) end
fetch(KEYS)

local known, taken = idempotency.recall(once, fingerprint)
if taken then return { 'refused', 'TAKEN', idempotency.USED } end
if known then return { 'again', known } end

local me = { answer = {} }
local ok, why = attempt(function()
  if job ~= '' then
    me.id = aliases.resolve(job)
    need(me.id)
  end
  for _ = 1, take_int() do ops.find(take())(me) end
  log.end_entry()
  quota.check()
end)
if not ok then return { 'refused', why.code, why.message, why.wait or '' } end

bells.ring_ready()
bells.ring_timers()
-- Who got nothing asks again under the same key until there is something.
if not me.nothing then idempotency.remember(once, fingerprint, me.answer, tonumber(once_for)) end
work.flush()
if me.warning then return { 'refused', me.warning[1], me.warning[2], bells.rings } end
return { 'done', me.answer, bells.rings, me.id or '', write.heard }
