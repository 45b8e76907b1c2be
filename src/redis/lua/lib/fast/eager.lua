-- A lane that begins with the jobs that were just made: an invocation that makes jobs and serves their queue itself needs
-- no claim. Only plain jobs of one queue, and only where nothing was ready before them.
-- Made when first called.

local eager = {}

local plain = require 'fast/plain'
local places = require 'job/places'
local lanes = require 'queue/lanes'
local tokens = require 'run/tokens'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local redis_keys = require 'runtime/redis_keys'
local time = require 'runtime/time'
local queue, set_text, text_at, writes = cache.queue, cache.set_text, cache.text_at, cache.writes
local put = journal.put
local key_of, queue_key = redis_keys.key_of, redis_keys.queue_key
local now = time.now

local function key_of_lane(lane) return ns .. 'lane:' .. lane end
local function in_order(a, b) return a[2] < b[2] or (a[2] == b[2] and a[1] < b[1]) end

-- What this script puts into an index, as it will stand there.
local function written_to(index)
  local rows = {}
  for member, score in pairs(writes.zsets[index] or {}) do rows[#rows + 1] = { member, score } end
  table.sort(rows, in_order)
  return rows
end

-- The one queue for whose jobs nobody else needs to come.
local function only_queue(lane)
  local q = next(places.to_ring)
  if lane == '' or not q or next(places.to_ring, q) or queue(q).paused or not lanes.has_room(q) then return nil end
  return redis.call('ZCARD', queue_key(q, 'ready')) == 0 and q or nil
end

-- Lends the first of them to a lane: { name, version (of the constraints), batch, lease, begun (how many start at once) }. Answers
-- their ids.
function eager.begin_lane(lane)
  local q, ids, lent = only_queue(lane.name), {}, {}
  local want = { queue = q, place = '', patterns = {}, version = lane.version, lease = lane.lease }
  if not q or not plain.suits(want) then return ids end
  local index = queue_key(q, 'ready')
  for i, row in ipairs(written_to(index)) do
    local member, id = row[1], row[1]:sub(15)
    local text = i <= math.min(lane.batch, queue(q).batch or lanes.BATCH) and plain.ready(id, member)
    if not text then break end
    plain.lend(id, text, member, want, i <= lane.begun)
    put(writes.zsets[index], member, nil)
    ids[i], lent[i] = id, tokens.begun[id]
  end
  if #ids == 0 then return ids end
  lanes.set(q, lane.name, now + lane.lease)
  set_text(key_of_lane(lane.name), '1 ' .. cjson.encode(lane_fields { word = 'ok', answers = {}, tokens = lent }))
  return ids
end

function eager.texts_of(ids)
  local list = {}
  for i, id in ipairs(ids) do list[i] = row_of.lent { document = text_at(key_of(id)) } end
  return list
end

-- What the same request lent before, as far as it still holds.
function eager.lent_before(lane)
  local text, ids = lane ~= '' and text_at(key_of_lane(lane)), {}
  local lane_record = text and cjson.decode((text:match('{.*')))
  for _, token in ipairs(lane_record and lane_record.tokens or {}) do
    local id = token:match('^%d+')
    if plain.holds(id, token) then ids[#ids + 1] = id end
  end
  return ids
end

return eager
