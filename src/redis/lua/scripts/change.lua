-- change: what people and other systems do to one job, or to channels: the verbs of lib/ops, all or none of them.
--
-- keys: what is read anyway: the idempotency key, the hints, queues and jobs that are likely to be changed
-- by: API, dashboard, dispatcher
-- reads: audience, channel, constraints, days, hints, job, jobs, lane, limit, once, queue, quota, result, schema, unique, wake, workers
-- writes: audience, channel, channels, counts, days, gone, hints, job, jobs, lane, limit, limits, live, log, once, queue, queues, quota, repeats, result, schema, unique, wake
-- args: ns, clock, seed, once, once_for, fingerprint, job, ...
-- returns: {'done', answer, rings, id, jobs that got a message} | {'again', answer} | {'refused', code, message, after how many seconds to try again or ''}

-- @include lib/runtime/base
-- @include lib/runtime/store
-- @include lib/job/values
-- @include lib/queue/counts
-- @include lib/runtime/lists
-- @include lib/queue/order
-- @include lib/limit/quota
-- @include lib/job/status
-- @include lib/port/log
-- @include lib/run/lease
-- @include lib/port/ports
-- @include lib/family/tree
-- @include lib/family/follow
-- @include lib/limit/limits
-- @include lib/limit/turns
-- @include lib/queue/aging
-- @include lib/job/create
-- @include lib/queue/waiters
-- @include lib/queue/lanes
-- @include lib/run/ops
-- @include lib/runtime/idempotency

-- Who hears a message is read with everything else.
if ARGV[at + 2] == 'publish' then relays.foresee(ARGV[at + 3], KEYS) end
fetch(KEYS)

local known, taken = recall(once, fingerprint)
if taken then return { 'refused', 'TAKEN', USED } end
if known then return { 'again', known } end

local me = { answer = {} }
local ok, why = attempt(function()
  if job ~= '' then
    me.id = resolve(job)
    need(me.id)
  end
  for _ = 1, take_int() do ops[take()](me) end
  entries.log()
  quota.check()
end)
if not ok then return { 'refused', why.code, why.message, why.wait or '' } end

ring_all()
ring_timers()
-- Who got nothing asks again under the same key until there is something.
if not me.nothing then remember(once, fingerprint, me.answer, tonumber(once_for)) end
flush()
if me.warning then return { 'refused', me.warning[1], me.warning[2], rings } end
return { 'done', me.answer, rings, me.id or '', relays.heard }
