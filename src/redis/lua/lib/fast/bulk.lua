-- Making jobs with nothing beside their documents, many at once: no decoding, only text.
-- Made when first called.

local bulk = {}

local ids = require 'job/ids'
local places = require 'job/places'
local specs = require 'job/specs'
local quota = require 'limit/quota'
local hints = require 'port/hints'
local counts = require 'queue/counts'
local order = require 'queue/order'
local sides = require 'queue/sides'
local args = require 'runtime/args'
local cache = require 'runtime/cache'
local journal = require 'runtime/journal'
local numbers = require 'runtime/numbers'
local redis_keys = require 'runtime/redis_keys'
local time = require 'runtime/time'
local take = args.take
local queue, writes = cache.queue, cache.writes
local push, put, within = journal.push, journal.put, journal.within
local int = numbers.int
local queue_key = redis_keys.queue_key
local digits, moment_of_sequence, next_ticks, now_text, sequence, sequence_of = time.digits, time.moment_of_sequence, time.next_ticks, time.now_text, time.sequence, time.sequence_of

-- What stands around the sequence and the args of each: see lib/fast/plain.lua for the mark of those that are ready.
local function frame(spec, place, past)
  local mark, rest = spec.tail:match('^( ?){(.*)}$')
  local since = past and '"t":"' .. now_text .. '",' or ''
  return (place == '' and mark or '') .. '{"n":"', '",' .. place .. since .. rest
end

-- Numbers that follow each other, as text in two pieces: the last two digits, of which there are few, and the others, which
-- seldom change.
local function counter(base, shown)
  local front, front_of, ends = nil, nil, {}
  return function(n)
    if n < base then return '', shown(n) end
    local last = n % base
    if n - last ~= front_of then
      front_of = n - last
      front = shown(front_of):sub(1, -3)
    end
    if not ends[last] then ends[last] = shown(base + last):sub(-2) end
    return front, ends[last]
  end
end

local function decimal(n) return string.format('%.0f', n) end

-- Jobs that are ready, and that nobody looks up before they are written: no table knows them by their keys. Takes a quarter less time.
local function create_unseen(spec, n, first, head, tail)
  local texts, rows = writes.texts, within(writes.rows, queue_key(spec.queue, 'ready'))
  local key, with_args, encode, priority = ns .. 'job:', tail .. ',"a":', cjson.encode, int(spec.priority)
  local sequences, ids, before, ageing = counter(256, digits), counter(100, decimal), next_ticks(n), queue(spec.queue).ageing
  local t, r = #texts, #rows
  for i = 1, n do
    local args, since, since_end, id, id_end = ARGV[at + i], sequences(before + i)
    id, id_end = ids(first + i - 1)
    texts[t + 1] = key .. id .. id_end
    texts[t + 2] = args ~= '' and head .. since .. since_end .. with_args .. encode(args) .. '}' or head .. since .. since_end .. tail .. '}'
    rows[r + 1] = ageing and int(order.rank(spec.queue, spec.priority, math.floor((before + i) / 1000))) or priority
    rows[r + 2] = since .. since_end .. ':' .. id .. id_end
    t, r = t + 2, r + 2
  end
  at = at + n
end

-- Jobs that wait for their time or are pulled, whose making is told, or with which this very script begins a lane.
local function create_seen(spec, n, first, head, tail, moment, index, past)
  -- Nothing is taken back here, so nothing goes through `put`.
  local strings, members, tell = writes.strings, within(writes.zsets, index), hints.hears_all_jobs() or hints.hears_one_of(first, n)
  for i = 1, n do
    local id, args = decimal(first + i - 1), take()
    local since = past and sequence_of(past, id) or sequence()
    members[moment and id or since .. ':' .. id] = moment or order.rank(spec.queue, spec.priority, moment_of_sequence(since))
    strings[ns .. 'job:' .. id] = args ~= '' and head .. since .. tail .. ',"a":' .. cjson.encode(args) .. '}' or head .. since .. tail .. '}'
    if tell then hints.tell_status(id, cjson.decode(spec.tail), 'queued') end
  end
end

-- Makes n of them. Answers the first id; the others follow it.
function bulk.create(spec, n, lane, quota_of)
  specs.check_registered(spec.queue, spec.class, spec.known)
  local q, moment, asked = spec.queue, specs.moment_of(spec)
  local pull = sides.of(q, spec.class)
  local place = moment and '"z":"t","w":"' .. int(moment) .. '",' or pull and '"z":"p",' or ''
  local past = pull and not moment and asked
  local head, tail = frame(spec, place, past)
  local first = ids.next_ids(n)
  if place ~= '' or lane ~= '' or hints.hears_all_jobs() or hints.hears_one_of(first, n) then
    local index = queue_key(q, moment and 'timers' or pull and 'ready:pull' or 'ready')
    create_seen(spec, n, first, head, tail, moment, index, past)
  else
    create_unseen(spec, n, first, head, tail)
  end
  counts.add(q, 'made', n)
  if quota_of ~= '' then quota.add(quota_of, n, 0) end
  if moment then
    places.soonest(q, queue_fields.next_timer, moment)
  elseif pull then
    for _ = 1, n do push(within(places.to_call, q), spec.class) end
  else
    put(places.to_ring, q, (places.to_ring[q] or 0) + n)
  end
  return decimal(first)
end

return bulk
