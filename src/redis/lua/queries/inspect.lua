-- inspect: one job as people want to see it. Read only.
--
-- keys: the hints
-- by: API, dashboard, dispatcher
-- reads: hints, job, jobs, limit, queue
-- writes: none
-- args: ns, clock, seed, job, dir, port, most:int
-- returns: {'job', id, document, side values, children, items of the port, ahead in its queue, facts of the queue, children
--           counted, callback: its document and last error}
--          | {'refused', code, message}

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
-- @include lib/job/create
-- @include lib/queue/waiters
-- @include lib/queue/lanes
-- @include lib/run/claim

local ok, id = attempt(function()
  local id = resolve(job)
  need(id)
  return id
end)
if not ok then return { 'refused', id.code, id.message } end

local doc = find(id)
local items = {}
if port ~= '' then
  local pushed, taken, dropped = counts(doc, dir, port)
  -- One that only `*` stands for is empty until somebody writes to it.
  local may_be = not pushed and doc[dir .. ':*'] and port:match('^[%w_]+$')
  if dropped or not (pushed or may_be) then return { 'refused', 'REFUSED', 'job ' .. id .. ' (' .. doc.class .. ') does not have ' .. sides[dir] .. ' port ' .. port } end
  if pushed and pushed > taken then items = lists.now(id, doc, dir, port, most) end
end
local ahead = ''
if not doc.place or doc.place == 'p' or doc.place == 'w' then ahead = int(redis.call('ZRANK', index_of(doc), member_of(id, doc)) or -1) end
local queue_record = queue(doc.queue)
local facts = { queue_record.paused and 'paused' or '', int(side.most_lanes(queue_record)), int(lane_count(doc.queue)), queue_record.mode or '', int(now), '', side.own_limit(doc) or '' }
if doc.place == 'w' then
  local moment = next_room(doc.waiting_limit)
  facts[6] = moment < never and int(moment) or ''
  facts[8] = cjson.encode(limit(doc.waiting_limit).settings or {})
end
local children, total = flat_children(id, doc)
return { 'job', id, text_at(key_of(id)), flat_side_values(id, doc), children, items, ahead, facts, int(total), callback_of(doc) }
