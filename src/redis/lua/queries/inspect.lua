-- Returns one job and, on request, its newest children and the jobs that it waits for.
--
-- by: API, dashboard, dispatcher
-- reads: hints, job, jobs, limit, listened, queue
-- deep: maximum length of the chain of awaited jobs

local job, dir, port = args.take(), args.take(), args.take()
local most, most_kin, deep = args.take_int(), args.take_int(), args.take_int()

local ok, id = journal.attempt(aliases.need, job)
if not ok then return reply.refused { code = id.code, message = id.message } end

local COUNTED = 100
local function jobs_ahead(id, doc)
  local index, member, own = places.index_of(doc), places.member_of(id, doc), 0
  local number, at = pieces.place_of(id)
  if cache.loose[id] then
    local piece = cache.piece(number)
    member = pieces.entry(number, piece)
    own = #piece.mask:sub(1, at - 1):gsub('0', '')
  end
  local rank = redis.call('ZRANK', index, member)
  local packed = (cache.queue(doc.queue).packed or {})[redis_keys.letters.ready]
  if not rank or not packed or doc.place then return rank or -1 end
  local n = math.min(rank, COUNTED)
  local in_front = n > 0 and #entries.ids_of(redis.call('ZRANGE', index, 0, n - 1), math.huge) or 0
  return own + in_front + rank - n + math.floor(packed * (rank - n) / redis.call('ZCARD', index))
end

local function view(id, doc, is_whole)
  local ahead, limit_free, limit, children, total = '', '', '', {}, 0
  if doc.place == PLACE.limited then
    local moment = limits.next_room(doc.waiting_limit)
    limit_free = moment < numbers.never and moment or ''
    limit = cjson.encode(limits.at(doc.waiting_limit).settings or {})
  end
  if is_whole then
    if states.is_ready(doc) or doc.place == PLACE.limited then ahead = jobs_ahead(id, doc) end
    children, total = snapshot.flat_children(id, doc)
  end
  local queue_record = cache.queue(doc.queue)
  local facts = row_of.facts { paused = queue_record.paused and 'paused' or '',
    max_lanes = lanes.most(queue_record), lanes = lanes.count(doc.queue),
    mode = queue_record.mode or '', now = time.now, limit_free = limit_free,
    own_limit = sides.own_limit(doc) or '', limit = limit }
  return row_of.inspected { id = id, document = cache.document(id),
    side = snapshot.flat_side_values(id, doc), children = children, ahead = ahead, facts = facts,
    child_count = total, callback = snapshot.callback_of(doc), whole = is_whole and 'whole' or '' },
    children, #children == 2 * total
end

local function ids_in(children, is_open)
  local ids = {}
  for i = 2, #children, 2 do
    local id, is = children[i]:match('^(%d+),(%a+)')
    if id and not (is_open and states.ends[is]) then ids[#ids + 1] = id end
  end
  table.sort(ids, function(a, b) return tonumber(a) < tonumber(b) end)
  return ids
end

local MOST_CAUSES = 5
local function causes_of(doc, children)
  local rests = doc.place == PLACE.suspended or doc.place == PLACE.timers
  if rests and doc.held then return { doc.parent } end
  if not (rests and (doc.waits_for or doc.awaited_children or doc.followed)) then return {} end
  return tables.slice(ids_in(children, true), 1, math.min(MOST_CAUSES, large.share(MOST_CAUSES)))
end

local function lasts_until(doc)
  if doc.place == PLACE.leased then return tonumber(doc.lease_until) end
  if doc.place ~= PLACE.timers then return doc.place == PLACE.limited and 0 or numbers.never end
  return tonumber(doc.backoff_until or doc.not_before or doc.next_slot or 0)
end

local chain, seen = {}, { [id] = true }
local function add_causes(causes)
  local latest, till, some, behind = nil, -1, {}, {}
  for cause, doc in cache.each(causes) do
    if not seen[cause] then
      some[#some + 1] = cause
      seen[cause] = true
      if lasts_until(doc) > till then
        latest = cause
        till = lasts_until(doc)
      end
    end
  end
  snapshot.fetch_side_values(some)
  for cause, doc in cache.each(some) do
    local row, children = view(cause, doc, cause == latest)
    chain[#chain + 1] = row
    if cause == latest then behind = causes_of(doc, children) end
  end
  return behind
end

local doc = cache.find(id)
local items = {}
if port ~= '' then
  local of = port_refs.at(id, doc, dir, port)
  local pushed, taken, dropped = ports.counts(of)
  local may_be = not pushed and doc[dir .. ':*'] and port:match('^[%w_]+$')
  if dropped or not (pushed or may_be) then
    return reply.refused { code = 'REFUSED', message = ports.missing(of) }
  end
  if pushed and pushed > taken then items = lists.now(of, most) end
end
if most_kin + deep > 0 then cache.fetch({ redis_keys.queue(doc.queue), large.key }) end
local row, children, is_all = view(id, doc, true)
local causes, newest = deep > 0 and causes_of(doc, children) or {}, {}
local has_kin = most_kin > 0 and is_all
if has_kin then
  local ids = ids_in(children)
  local shown = math.min(most_kin, large.share(most_kin))
  for i = #ids, math.max(1, #ids + 1 - shown), -1 do newest[#newest + 1] = ids[i] end
end
local both = tables.slice(causes, 1, MOST_CAUSES)
tables.append(both, newest)
cache.fetch_jobs(both)
local rows = {}
snapshot.fetch_side_values(newest)
for child, child_doc in cache.each(newest) do
  rows[#rows + 1] = row_of.listed { id = child, document = cache.document(child),
    side = snapshot.flat_side_values(child, child_doc), callback = snapshot.callback_of(child_doc) }
end
for _ = 1, deep do causes = add_causes(causes) end
return reply.job { job = row, items = items, has_kin = has_kin and 'kin' or '', kin = rows, chain = chain }
