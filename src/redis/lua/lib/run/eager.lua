-- A lane that begins with the jobs that were just made: an invocation that makes jobs and serves their queue itself needs
-- no request of its own to claim them. Only jobs of one queue, and only where nothing was ready before them.
-- Made when first called.

local eager = {}

local places = require 'job/places'
local lanes = require 'queue/lanes'
local claim = require 'run/claim'
local tokens = require 'run/tokens'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local redis_keys = require 'runtime/redis_keys'
local tally = require 'runtime/tally'
local time = require 'runtime/time'
local queue, set_text, text_at, writes = cache.queue, cache.set_text, cache.text_at, cache.writes
local put = journal.put
local queue_key = redis_keys.queue_key
local now = time.now

local function key_of_lane(lane) return ns .. 'lane:' .. lane end
local function in_order(a, b) return a[2] < b[2] or (a[2] == b[2] and a[1] < b[1]) end

-- What this script puts into an index, as it will stand there.
local function written_to(index)
  local rows, members = {}, {}
  for member, score in pairs(writes.zsets[index] or {}) do rows[#rows + 1] = { member, score } end
  table.sort(rows, in_order)
  for i, row in ipairs(rows) do members[i] = row[1] end
  return members
end

-- The one queue for whose jobs nobody else needs to come.
local function only_queue(lane)
  local q = next(places.to_ring)
  if lane.name == '' or not q or next(places.to_ring, q) or queue(q).paused or not lanes.has_room(q) then return nil end
  return tally.count(q, 'ready') == 0 and q or nil
end

-- Lends the first of them to a lane: { name, version (of the constraints), batch, lease, begun (how many start at once) }. Answers
-- their ids.
function eager.begin_lane(lane)
  local q = only_queue(lane)
  if not q then return {} end
  local index, most = queue_key(q, 'ready'), math.min(lane.batch, queue(q).batch or lanes.BATCH)
  local members = written_to(index)
  local want = { queue = q, lane = lane.name, place = '', only = '', tier = '', skip = 0, calls = -1, max = most, wide = 0, lease = lane.lease, begun = lane.begun, patterns = {}, tags = {}, stale = {}, version = lane.version }
  local ids = claim.jobs(want, members)
  -- What has gone from there never was there.
  for _, member in ipairs(members) do
    if not writes.zsets[index][member] then put(writes.zsets[index], member, nil) end
  end
  if #ids == 0 then return ids end
  lanes.set(q, lane.name, now + lane.lease)
  set_text(key_of_lane(lane.name), '1 ' .. cjson.encode(lane_fields { word = 'ok', answers = {}, tokens = tokens.of(ids) }))
  return ids
end

-- What the same request lent before, as far as it still holds.
function eager.lent_before(lane)
  local text = lane ~= '' and text_at(key_of_lane(lane))
  local lane_record = text and cjson.decode((text:match('{.*')))
  return lane_record and claim.still_lent(lane_record.tokens) or {}
end

return eager
