-- enqueue: make jobs, all or none of them, or find what their keys stand for.
--
-- keys: what is read anyway: the idempotency key, the lane, the queues, the limits, the id counter, the hints
-- by: API
-- reads: audience, channel, constraints, days, epoch, hints, job, jobs, lane, limit, once, queue, quota, schema, unique, workers
-- writes: audience, channel, channels, counts, days, epoch, hints, job, jobs, lane, limit, limits, live, once, queue, queues, quota, repeats, schema, unique, wake
-- args: ns, clock, seed, once, once_for, fingerprint, tagged, lane, batch:int, lease:int, begun:int, seen:int, quota_of, most_jobs, most_bytes, ...
-- returns: {'made', answers, rings, runs} | {'again', answers, {}, runs} | {'refused', code, message, which, member, after how many seconds to try again or ''}
--          | {'stale', constraints}: they were tagged by older ones
--          answers = [first id, status, 'existing' or '', how many] each: the ids of jobs in common follow each other
--          rest: what jobs have in common, how many they are, the args of each; as often as the first number says

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
-- @include lib/fast/bulk
-- @include lib/queue/waiters
-- @include lib/queue/lanes
-- @include lib/runtime/idempotency
-- @include lib/fast/plain
-- @include lib/fast/eager

fetch(KEYS)

local known, taken = recall(once, fingerprint)
if taken then return { 'refused', 'TAKEN', USED, '' } end
if known then return { 'again', known, {}, snapshots(lent_before()) } end

local _, _, version = hints()
if version ~= tagged then return { 'stale', text_at(ns .. 'constraints') or '' } end

must_have_given(seen)
if quota_of ~= '' then quota.allow(quota_of, most_jobs, most_bytes) end
local answers, made = {}, 0
local ok, why = try(function()
  for i = 1, take_int() do
    local spec, n = take_spec(), take_int()
    if spec.plain then
      answers[i] = { create_plain(spec, n), 'queued', '', int(n) }
    else
      local id, status, existing = create(spec, take())
      answers[i] = { id, status, existing and 'existing' or '', '1' }
    end
    made = made + n
  end
  entries.log()
  quota.check()
end)
if not ok then return { 'refused', why.code, why.message, int(made), why.field or '', why.wait or '' } end

conclude()
local ids = begin_lane()
ring_all()
ring_timers()
remember(once, fingerprint, answers, tonumber(once_for))
flush()
return { 'made', answers, rings, snapshots(ids) }
