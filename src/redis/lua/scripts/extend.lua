-- Renews the leases of current runs, and of their lane.
--
-- by: API, dispatcher
-- reads: hints, listened
-- updates: job, jobs, lane, processes, queue, quota, schema
-- writes: limit, live, wake

local queue_name, lane, lease = args.take(), args.take(), args.take_int()
local progress, own = args.take(), args.take()

cache.fetch(KEYS)

local answers, tokens, signal = {}, args.take_list(), ''
local ids = {}
for i, token in ipairs(tokens) do ids[i] = token:match('^[1-9]%d*') or '0' end
cache.fetch_jobs(ids)
local renewed = {}
local function renew_piece(token)
  local id, under = token:match('^([1-9]%d*)%.(.*)$')
  local number, at = pieces.place_of(id or '0')
  local piece, till = packed.claimed(number, under)
  if not piece or till <= time.now or not pieces.has(piece, at) then return nil end
  renewed[number] = renewed[number] or packed.extend(number, piece, lease)
  return renewed[number]
end

for i, token in ipairs(tokens) do
  local id = token:match('^([1-9]%d*)%.') or '0'
  answers[i] = lane ~= '' and renew_piece(token) or ''
  local doc = answers[i] == '' and cache.find(id)
  -- If a worker renews only its own run and the job must end, the answer is '', as if the run was lost. The run can
  -- still commit until its lease ends.
  local is_ending = doc and doc.terminating == TERMINATING.asked and lane == ''
  if doc and doc.token == token and tonumber(doc.lease_until) > time.now and not is_ending then
    if own ~= '' then cache.change(id, doc, fields.lease_length, lease) end
    cache.change(id, doc, fields.begun, '1')
    if progress ~= '' then values.set_value(id, doc, fields.progress, progress) end
    leases.extend(id, doc, lease)
    answers[i] = doc.lease_until .. (doc.terminating == TERMINATING.asked and '!' or '')
    if doc.process then signal = processes.contact(doc.process, doc.queue) end
  end
end
if lane ~= '' and cache.queue(queue_name).lanes[lane] then lanes.set(queue_name, lane, time.now + lease) end
work.flush()
return reply.extended { ends = answers, signal = signal }
