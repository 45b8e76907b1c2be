due.SLICE = 1000

local function members_due(q, index, field)
  local moment = cache.queue(q)[field]
  if not moment or moment > time.now then return {}, nil end
  local key = redis_keys.queue(q, index)
  local ids = redis.call('ZRANGEBYSCORE', key, '-inf', time.now_text, 'LIMIT', 0, due.SLICE)
  local next_moment = #ids < due.SLICE and cache.next_moment(key, time.now) or time.now
  for id, till in pairs(index == 'leases' and cache.queue(q).leased or {}) do
    if till <= time.now then ids[#ids + 1] = id else next_moment = math.min(next_moment, till) end
  end
  cache.change_queue(q, field, next_moment < numbers.never and next_moment or nil)
  cache.fetch_jobs(ids)
  return ids, key
end

local SLOT_GRACE = 300000

local function miss_slot(id, doc)
  local late = doc.next_slot and time.now - doc.next_slot > SLOT_GRACE and not doc.wanted_early
  if late and (values.get_value(id, doc, fields.repeats) or ''):find('"missed":"skip"', 1, true) then
    cache.change(id, doc, fields.slot_missed, '1')
  end
end

local function fire(key, id)
  local doc = cache.find(id)
  if not doc or doc.place ~= PLACE.timers then return cache.zset(key, id, false) end
  miss_slot(id, doc)
  queueing.enqueue(id, doc)
end

function due.timers(q)
  local ids, key = members_due(q, 'timers', queue_fields.next_timer)
  for _, id in ipairs(ids) do alone.act(key, id, fire, key, id) end
  return #ids
end

local function take_back_piece(key, member)
  local piece, number = cache.piece_at(member)
  local till = piece and tonumber(piece.state:match('^"z":"l",.-"le":"(%d+)"') or nil)
  if not till or till > time.now then
    cache.zset(key, member, till or false)
    if till then cache.soonest((cache.where(piece)), queue_fields.next_lease, till) end
    return 1
  end
  local ids = pieces.ids(number, piece)
  local is_whole = true
  for _, id in ipairs(ids) do
    local doc = cache.find(id)
    is_whole = is_whole and doc
    if doc then retry.lose(id, doc) end
  end
  if not is_whole then cache.zset(key, member, false) end
  return #ids
end

local function take_back_job(key, id)
  local doc = cache.find(id)
  if not doc or doc.place ~= PLACE.leased then
    cache.zset(key, id, false)
  elseif tonumber(doc.lease_until) > time.now then
    places.move(id, doc, PLACE.leased, tonumber(doc.lease_until))
  else
    retry.lose(id, doc)
  end
  return 1
end

function due.take_back(q)
  local members, key = members_due(q, 'leases', queue_fields.next_lease)
  local n = 0
  for _, member in ipairs(members) do
    if n >= due.SLICE then
      cache.change_queue(q, queue_fields.next_lease, time.now)
      return due.SLICE
    end
    local take_back = pieces.number_in(member) and take_back_piece or take_back_job
    n = n + (alone.act(key, member, take_back, key, member) or 1)
  end
  return #members
end
