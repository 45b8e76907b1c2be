local RETRY_IN = 600000

local MAX_TREE = 1000

local function all_ended(id)
  local tree, more = trees.of(id, MAX_TREE)
  if more then return nil, true end
  for _, member in ipairs(tree) do
    local doc = cache.find(member)
    if doc and (not states.has_ended(doc) or expiry.listens(member, doc)) then return nil, nil end
  end
  return tree, nil
end

-- 'follow' is absent, because a parent that follows its children keeps them.
local committed = { completed = true, suspended = true, again = true }

-- The child can end in the millisecond in which the parent is claimed. If the parent is then suspended and waits for
-- nothing, it has seen the child.
local function has_seen(parent_doc, doc)
  local started, outcome = (parent_doc.last_run or ''):match('^(%d+),%d+,(%a+)')
  local ended = tonumber(doc.ended_at) or 0
  if parent_doc.place == PLACE.leased or not committed[outcome] then return false end
  return tonumber(started) > ended
    or (tonumber(started) == ended and parent_doc.place == PLACE.suspended and not parent_doc.waits_for)
end

local function open_branches(id, doc)
  for _, child in ipairs(kin.children_of(id, doc)) do
    if not states.ends[child.status] then return end
  end
  cache.change(id, doc, fields.branchwise_after, doc.ended_at)
end

local function may_go(doc)
  local parent_doc = doc.parent and cache.find(doc.parent)
  if not parent_doc then return true end
  if states.has_ended(parent_doc) then
    return parent_doc.branchwise_after ~= nil and parent_doc.branchwise_after == parent_doc.ended_at
  end
  return has_seen(parent_doc, doc)
end

local function remove_due(key, id)
  local doc = cache.find(id)
  if not doc or not states.resting[doc.place] then return cache.zset(key, id, false) end
  local tree, too_large
  local callback = doc.callback_job and doc.callback_status ~= 'DELIVERED' and cache.find(doc.callback_job)
  if not callback and may_go(doc) then tree, too_large = all_ended(id) end
  if too_large then open_branches(id, doc) end
  if not tree then
    cache.zset(places.index_of(doc), id, time.now + RETRY_IN)
    return cache.soonest(doc.queue, queue_fields.next_removal, time.now + RETRY_IN)
  end
  erase.tree(tree)
end

local function remove_piece(key, member)
  local piece, number = cache.piece_at(member)
  local ended = piece and tonumber(piece.state:match('^"z":"c","e":"(%d+)"') or nil)
  if not ended or piece.n == 0 then return cache.zset(key, member, false) end
  if ended > time.now - erase.GONE or packed.is_heard(number) then
    for _, id in ipairs(pieces.ids(number, piece)) do
      if cache.find(id) then remove_due(key, id) else cache.zset(key, member, false) end
    end
  else
    packed.remove(number, piece)
  end
end

local SWEEP, MAX_SWEPT = 200, 5000

function retention.sweep(q)
  local queue_record = cache.queue(q)
  if not queue_record.next_removal or queue_record.next_removal > time.now then return false end
  cache.change_queue(q, queue_fields.next_removal, nil)
  local more = false
  for _, place in ipairs({ 'completed', 'failed', 'terminated' }) do
    local key, over = redis_keys.queue(q, place), tally.over(queue_record, place)
    local ids = redis.call('ZRANGEBYSCORE', key, '-inf', over > 0 and '(+inf' or time.now_text, 'LIMIT', 0,
      over > 0 and math.min(SWEEP, over) or SWEEP)
    cache.fetch_jobs(ids)
    for _, id in ipairs(ids) do
      local remove = pieces.number_in(id) and remove_piece or remove_due
      if journal.puts < MAX_SWEPT then alone.act(key, id, remove, key, id) end
    end
    if #ids == SWEEP or (over > 0 and #ids > 0) or journal.puts >= MAX_SWEPT then
      more = true
      cache.soonest(q, queue_fields.next_removal, time.now)
    else
      cache.soonest(q, queue_fields.next_removal, cache.next_moment(key, time.now))
    end
  end
  return more
end
