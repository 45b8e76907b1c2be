-- Creates all jobs or none. Returns the holder of a unique key instead of creating a second job.
--
-- by: API
-- reads: constraints, listened, workers
-- updates: again, audience, channel, days, epoch, hints, job, jobs, lane, limit, once, outbox, queue, quota, schema,
--   unique
-- writes: channels, counts, limits, live, queues, repeats, wake
-- rest: for each call after the first: key, period, fingerprint and shelf. Then for each group of jobs of each call:
--   common options, number of jobs, args of each job

local once, once_for, fingerprint, shelf, tagged = args.take(), args.take(), args.take(), args.take(), args.take()
local lane, batch, lease, begun = args.take(), args.take_int(), args.take_int(), args.take_int()
local seen, allowance = args.take_int(), args.take()

cache.fetch(KEYS)

local calls = { { once = once, period = once_for, fingerprint = fingerprint, shelf = shelf } }
for i = 1, args.take_int() do
  calls[i + 1] = { once = args.take(), period = args.take(), fingerprint = args.take(), shelf = args.take() }
end

local known, taken
for i, call in ipairs(calls) do
  local answered, used = idempotency.recall(call)
  if i == 1 then known = answered else used = used or answered end
  taken = taken or used
end
if taken then return reply.refused { code = 'TAKEN', message = idempotency.USED } end
if known then
  local held = lane ~= '' and claim.still_claimed(lanes.last_answer(lane).tokens) or {}
  return reply.again { jobs = known, claimed = claimed.rows(held) }
end

local _, _, version = hints.known()
if version ~= tagged then
  local text = cache.text_at(ns .. 'constraints') or ''
  local is_readable = text == '' or readable.decode(text, ns .. 'constraints')
  return reply.outdated { constraints = is_readable and text or '{"version":"' .. version .. '","list":{}}' }
end

ids.must_have_given(seen)
local quota_of = allowance == '' and '' or quota.allow(allowance, once_for)
local function made_alone(spec, n)
  if spec.queue == internal.BULK then cache.makes_room = true end
  local first, first_status, is_known
  local list, inputs
  if spec.packed then list, inputs = packed.taken_apart(spec, n) end
  for i = 1, n do
    if inputs then spec.inputs = inputs[i] end
    local id, status, existing = create.one(spec, list and list[i] or args.take())
    if i == 1 then first, first_status, is_known = id, status, existing end
  end
  return row_of.made { first = first, status = first_status, existing = is_known and 'existing' or '', count = n }
end

local answers, made = {}, 0
local ok, why = journal.try(function()
  for i = 1, args.take_int() do
    local spec, n = specs.take(), args.take_int()
    if packed.suits_new(spec) then
      answers[i] = row_of.made { first = packed.create(spec, n, quota_of), status = 'queued', count = n }
    else
      answers[i] = made_alone(spec, n)
    end
    made = made + n
  end
  log.end_entry()
  if quota_of ~= '' or next(cache.dirty) then quota.check() end
end)
if not ok then
  return reply.refused { code = why.code, message = why.message, wait = why.wait or '', which = made,
    member = why.field or '' }
end

work.conclude()
local ids = eager.begin_lane({ name = lane, version = tagged, batch = batch, lease = lease, begun = begun })
eager.hand_over(tagged)
bells.ring_all()
for i, call in ipairs(calls) do idempotency.remember(call, calls[2] and { answers[i] } or answers) end
work.flush()
eager.call_lanes()
return reply.made { jobs = answers, rings = bells.rings, claimed = ids[1] and claimed.rows(ids) or {} }
