-- inspect: Returns one job for the API and the dashboard. Read only.
--
-- keys: the hints
-- by: API, dashboard, dispatcher
-- reads: hints, job, jobs, limit, listened, queue
-- writes: none
-- args: ns, clock, seed, job, dir, port, most:int
-- returns: job | refused

local aliases = require 'job/aliases'
local places = require 'job/places'
local limits = require 'limit/limits'
local ports = require 'port/ports'
local lanes = require 'queue/lanes'
local sides = require 'queue/sides'
local snapshot = require 'run/snapshot'

local ok, id = journal.attempt(aliases.need, job)
if not ok then return reply.refused { code = id.code, message = id.message } end

-- Few pieces are counted one by one; otherwise each counts as the average.
local COUNTED = 100
local function jobs_ahead(id, doc)
  local index, member, own = places.index_of(doc), places.member_of(id, doc), 0
  local number, at = pieces.place_of(id)
  if cache.loose[id] then
    local piece = cache.piece(number)
    member = pieces.entry(number, piece)
    own = #pieces.ids(number, { mask = piece.mask:sub(1, at - 1) })
  end
  local rank = redis.call('ZRANK', index, member)
  local packed = (cache.queue(doc.queue).packed or {})[redis_keys.letters.ready]
  if not rank or not packed or doc.place then return rank or -1 end
  local n = math.min(rank, COUNTED)
  local in_front = n > 0 and #entries.ids_of(redis.call('ZRANGE', index, 0, n - 1), math.huge) or 0
  return own + in_front + (rank - n) + math.floor(packed * (rank - n) / redis.call('ZCARD', index))
end

local doc = cache.find(id)
local items = {}
if port ~= '' then
  local pushed, taken, dropped = ports.counts(doc, dir, port)
  -- A port that only `*` declares is empty until its first value.
  local may_be = not pushed and doc[dir .. ':*'] and port:match('^[%w_]+$')
  if dropped or not (pushed or may_be) then
    return reply.refused { code = 'REFUSED',
      message = 'job ' .. id .. ' (' .. doc.class .. ') does not have ' .. redis_keys.direction[dir] .. ' port '
      .. port }
  end
  if pushed and pushed > taken then items = lists.now(id, doc, dir, port, most) end
end
local ahead = ''
if not doc.place or doc.place == PLACE.pull or doc.place == PLACE.limited then
  ahead = numbers.int(jobs_ahead(id, doc))
end
local queue_record = cache.queue(doc.queue)
local limit_free, limit = '', ''
if doc.place == PLACE.limited then
  local moment = limits.next_room(doc.waiting_limit)
  limit_free = moment < numbers.never and numbers.int(moment) or ''
  limit = cjson.encode(limits.at(doc.waiting_limit).settings or {})
end
local facts = row_of.facts { paused = queue_record.paused and 'paused' or '',
  max_lanes = numbers.int(lanes.most(queue_record)), lanes = numbers.int(lanes.count(doc.queue)),
  mode = queue_record.mode or '', now = numbers.int(time.now), limit_free = limit_free, own_limit = sides.own_limit(doc)
  or '', limit = limit }
local children, total = snapshot.flat_children(id, doc)
return reply.job { id = id, document = cache.text_at(redis_keys.key_of(id)), side = snapshot.flat_side_values(id, doc),
  children = children, items = items, ahead = ahead, facts = facts, child_count = numbers.int(total),
  callback = snapshot.callback_of(doc) }
