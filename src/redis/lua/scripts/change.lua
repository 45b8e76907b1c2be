-- Runs verbs of lib/run/ops on one job or on channels. Applies all verbs or none.
--
-- by: API, dashboard, dispatcher
-- reads: constraints, workers
-- updates: audience, channel, days, hints, job, jobs, lane, limit, listened, message, messages, once, outbox, queue,
--   quota, result, schema, unique, wake
-- writes: channels, counts, gone, limits, live, log, queues, repeats

local once, once_for, fingerprint = args.take(), args.take(), args.take()
local allowance, job = args.take(), args.take()

local first, channel = ARGV[at + 2], ARGV[at + 3]
if first == 'publish' or first == 'keep' then audience.foresee(channel, KEYS) end
if first == 'keep' then KEYS[#KEYS + 1] = kept.key(channel) end
cache.fetch(KEYS)

local call = { once = once, period = once_for, fingerprint = fingerprint, shelf = '' }
local known, taken = idempotency.recall(call)
if taken then return reply.refused { code = 'TAKEN', message = idempotency.USED } end
if known then return reply.repeated { answer = known } end

if allowance ~= '' then quota.allow(allowance, once_for) end

local me = { answer = {} }

local ok, why = journal.attempt(function()
  if job ~= '' then me.id = aliases.need(job) end
  for _ = 1, args.take_int() do
    local word = args.take()
    local carry = of_callers.named(word) or ops.named(word)
    carry(me)
  end
  log.end_entry()
  quota.check()
end)
if not ok then return reply.refused { code = why.code, message = why.message, wait = why.wait or '' } end

bells.ring_all()
if not me.nothing then idempotency.remember(call, me.answer) end
work.flush()
if me.warning then return reply.refused { code = me.warning[1], message = me.warning[2] } end
return reply.done { answer = me.answer, rings = bells.rings, id = me.id or '', receivers = write.receivers }
