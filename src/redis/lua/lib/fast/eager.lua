-- A lane that begins with the jobs that were just made: an invocation that makes jobs and serves their queue itself needs
-- no claim. Only plain jobs of one queue, and only where nothing was ready before them.

local lane_key = ns .. 'lane:' .. lane

local function in_order(a, b) return a[2] < b[2] or (a[2] == b[2] and a[1] < b[1]) end

-- What this script puts into an index, as it will stand there.
local function written_to(index)
  local rows = {}
  for member, score in pairs(writes.zsets[index] or {}) do rows[#rows + 1] = { member, score } end
  table.sort(rows, in_order)
  return rows
end

-- The one queue for whose jobs nobody else needs to come.
local function only_queue()
  local q = next(to_ring)
  if lane == '' or not q or next(to_ring, q) or queue(q).paused or not side.has_room(q) then return nil end
  return redis.call('ZCARD', queue_key(q, 'ready')) == 0 and q or nil
end

-- Lends the first of them to the lane; answers their ids.
local function begin_lane()
  local q, ids, lent = only_queue(), {}, {}
  local want = { queue = q, place = '', patterns = {}, version = tagged, lease = lease }
  if not q or not plain.suits(want) then return ids end
  local index = queue_key(q, 'ready')
  for i, row in ipairs(written_to(index)) do
    local member, id = row[1], row[1]:sub(15)
    local text = i <= math.min(batch, queue(q).batch or BATCH) and plain.ready(id, member)
    if not text then break end
    plain.lend(id, text, member, want, i <= begun)
    put(writes.zsets[index], member, nil)
    ids[i], lent[i] = id, tokens[id]
  end
  if #ids == 0 then return ids end
  set_lane(q, lane, now + lease)
  set_text(lane_key, '1 ' .. cjson.encode({ w = 'ok', a = {}, t = lent }))
  return ids
end

local function snapshots(ids)
  local list = {}
  for i, id in ipairs(ids) do list[i] = { text_at(key_of(id)) } end
  return list
end

-- What the same request lent before, as far as it still holds.
local function lent_before()
  local record, ids = lane ~= '' and text_at(lane_key), {}
  for _, token in ipairs(record and cjson.decode((record:match('{.*'))).t or {}) do
    local id = token:match('^%d+')
    if plain.holds(id, token) then ids[#ids + 1] = id end
  end
  return ids
end
