-- If the ageing, the mode or the classes of a queue change, claims and ticks sort its waiting jobs again, in slices.
-- Each job gets a new score, and moves to the index for lanes or for pull workers.
--
-- The queue stores the progress of the sort as `<index>:<scan cursor>`. The index is r (jobs for lanes), p (jobs for
-- pull workers) or w (jobs that wait for limits). Each limit stores its own cursor.

local JOBS_AT_ONCE, LIMITS_AT_ONCE = 1000, 100

local function next_slice(index, cursor)
  local answer, members, ids = redis.call('ZSCAN', index, cursor, 'COUNT', JOBS_AT_ONCE), {}, {}
  for i = 1, #answer[2], 2 do
    members[#members + 1] = answer[2][i]
    ids[#ids + 1] = answer[2][i]:sub(15)
  end
  cache.fetch_jobs(members)
  return answer[1], members, ids
end

local function move_all(place, ids)
  for _, id in ipairs(ids) do
    local doc = cache.find(id)
    if doc and doc.place == place then
      places.move(id, doc, sides.of(doc), nil, nil, true)
    end
  end
  return #ids
end

local function sort_entry(place, index, member, id)
  local piece, number = cache.piece_at(id)
  local doc = piece and pieces.entry(number, piece) == member and cache.common_of(piece)
  if not number then
    doc = cache.find(id)
    doc = doc and doc.place == place and places.member_of(id, doc) == member and doc
  end
  if not doc then return 0 end
  if sides.of(doc) ~= place then
    return move_all(place, piece and pieces.ids(number, piece) or { id })
  end
  cache.zset(index, member, order.score(doc))
  return 0
end

-- The second value is true if the page is not finished. Otherwise it is false and not missing, because some Lua engines
-- do not set a missing value to nil.
local function sort_side(q, place, cursor)
  local index, moved = redis_keys.queue(q, states.index(place)), 0
  local further, members, ids = next_slice(index, cursor)
  for i, id in ipairs(ids) do
    if moved >= JOBS_AT_ONCE then return cursor, true end
    moved = moved + sort_entry(place, index, members[i], id)
  end
  return further, false
end

local slices = {
  r = function(q, cursor) return sort_side(q, nil, cursor) end,
  p = function(q, cursor) return sort_side(q, 'p', cursor) end,
  w = function(q, cursor)
    if (cache.queue(q).at_limits or 0) == 0 then return '0', false end
    local answer = redis.call('SSCAN', ns .. 'limits', cursor, 'COUNT', LIMITS_AT_ONCE)
    cache.fetch_limits(answer[2])
    for _, key in ipairs(answer[2]) do
      if limits.of(key) then
        limits.save(key, limit_fields.reordering, '0')
        limits.check_at(key, time.now)
      end
    end
    return answer[1], false
  end,
}

local what_follows = { r = 'p:0', p = 'w:0' }

function resort.go_on(q)
  local place, cursor = (cache.queue(q).reordering or ''):match('^(%a):(%d+)$')
  if not place then return 0 end
  local further, is_left = slices[place](q, cursor)
  local here = place .. ':' .. further
  cache.change_queue(q, queue_fields.reordering, (is_left or further ~= '0') and here or what_follows[place])
  return 1
end

function resort.go_on_at(key)
  local index, settings = redis_keys.limit(key, 'waiting'), limits.of(key)
  local further, members, ids = next_slice(index, settings.reordering)
  sides.fetch_limits_of(ids)
  for i, id in ipairs(ids) do
    local doc = cache.find(id)
    if doc and doc.place == PLACE.limited and places.member_of(id, doc) == members[i] then
      local version = settings.constraints_version
      if version and doc.constraints_version ~= version then
        places.move(id, doc, sides.of(doc), nil, nil, true)
      else
        turns.change_tier(id, doc)
        cache.zset(index, members[i], order.score(doc))
      end
    end
  end
  limits.save(key, limit_fields.reordering, further ~= '0' and further or nil)
  return #ids
end
