-- extend: renew the leases of runs that go on, and of the lane that holds them.
--
-- keys: the queue and the jobs
-- by: API, dispatcher
-- reads: hints, job, jobs, lane, processes, queue, quota, schema
-- writes: job, lane, limit, live, processes, queue, quota, schema, wake
-- args: ns, clock, seed, queue_name, lane, lease:int, progress, own, ...
-- returns: {'extended', leaseUntil or '' for each token, with ! where its job is to end, what the process of the last one was told}

-- @include lib/runtime/base
-- @include lib/runtime/store
-- @include lib/job/values
-- @include lib/runtime/lists
-- @include lib/queue/order
-- @include lib/limit/quota
-- @include lib/job/status
-- @include lib/port/log
-- @include lib/run/lease
-- @include lib/port/ports
-- @include lib/family/tree
-- @include lib/limit/limits
-- @include lib/limit/turns
-- @include lib/queue/aging
-- @include lib/queue/waiters
-- @include lib/queue/lanes
-- @include lib/queue/processes

fetch(KEYS)

local answers, tokens, told = {}, take_list(), ''
for i, token in ipairs(tokens) do
  local id = token:match('^([1-9]%d*)%.') or '0'
  local doc = find(id)
  answers[i] = ''
  -- Who asks for its own run alone hears so that its job is to end: what it commits until its lease ends still counts.
  local is_ending = doc and doc.terminating == '1' and lane == ''
  if doc and doc.token == token and tonumber(doc.lease_until) > now and not is_ending then
    -- From now on the run has a length of its own.
    if own ~= '' then change(id, doc, fields.lease_length, int(lease)) end
    local till = now + (tonumber(doc.lease_length) or lease)
    change(id, doc, fields.lease_until, int(till))
    change(id, doc, fields.begun, '1')
    if progress ~= '' then set_value(id, doc, fields.progress, progress) end
    move(id, doc, 'l', till)
    if doc.held_limits then renew_slots(id, doc) end
    answers[i] = doc.lease_until .. (doc.terminating == '1' and '!' or '')
    if doc.process then told = processes.heard(doc.process, doc.queue) end
  end
end
if lane ~= '' and queue(queue_name).lanes[lane] then set_lane(queue_name, lane, now + lease) end
flush()
return { 'extended', answers, told }
