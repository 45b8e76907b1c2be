-- verify: Checks the invariants of a slice of jobs, queues, limits, channels or names. Read only.
--
-- keys: none
-- by: doctor
-- reads: audience, channel, channels, constraints, hints, job, jobs, limit, limits, queue, queues, repeats, result,
--   schema, unique, unreadable, wake, workers
-- writes: none
-- args: ns, clock, seed, phase:int, from:int, size:int
-- returns: verified
-- phases: 0 jobs (from an id), 1 queues, 2 limits, 3 channels, 4 aliases, 5 schedules, 6 ids, hints, constraints and
--   unreadable records, 7 all keys (from a cursor of a scan)

local kin = require 'family/kin'
local places = require 'job/places'
local aliases = require 'job/aliases'
local shape = require 'job/shape'
local states = require 'job/states'
local limits = require 'limit/limits'
local turns = require 'limit/turns'
local audience = require 'port/audience'
local hints = require 'port/hints'
local ports = require 'port/ports'
local wires = require 'port/wires'
local lanes = require 'queue/lanes'
local sides = require 'queue/sides'
local order = require 'queue/order'
local leases = require 'run/leases'
local whereabouts = require 'run/whereabouts'
local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local pieces = require 'runtime/pieces'
local readable = require 'runtime/readable'
local redis_keys = require 'runtime/redis_keys'
local tables = require 'runtime/tables'
local tally = require 'runtime/tally'
local time = require 'runtime/time'

local faults, seen = {}, 0
local kind = 'job'
local remedies = {
  ['place'] = 'it is put into the place of its document, and removed from other places',
  lease = 'its run ends without effect, and it is queued again',
  look = 'the queue gets the time of its next check',
  count = 'it is counted again',
  listen = 'it is written into the channel',
  tie = 'the records of its family are written again',
  circle = 'it is detached from its parent',
  ['gone'] = 'the entry is removed',
  lost = 'nothing brings the value back: the field is removed, and a job that has lost its args fails',
  name = 'a free alias is assigned to it; the alias of another job is removed from it',
  result = 'it expires at its stored time, or now if that has passed',
  unkept = 'it cannot be restored: its readers get none',
  slot = 'the slots are assigned again from current runs',
  record = 'it is completed from other records if possible; otherwise delete it with force',
  piece = 'each of its jobs gets a record of its own; jobs without readable args fail',
  field = 'the field is removed',
  settings = 'nothing brings the former settings back: set them again; the note is removed',
  ['class'] = 'the definition is removed; the class is registered again when its deployment or worker announces it',
  ids = 'the counter continues behind the highest id',
  hints = 'its numbers are computed again',
  constraints = 'they are removed: set them again',
  orphan = 'the key is deleted',
}
local function fault(who, what, remedy, of)
  faults[#faults + 1] = row_of.found { kind = of or kind, who = who, what = what, remedy = remedies[remedy] }
end

local function look(check, who, ...)
  local ok, why = pcall(check, who, ...)
  if not ok then
    fault(who, 'cannot be checked: ' .. tostring(type(why) == 'table' and (why.err or why.message) or why):sub(1, 200),
      kind == 'job' and 'record' or 'look')
  end
end

local last_known
local function last_id()
  last_known = last_known
    or math.max(tonumber(cache.text_at(ns .. 'jobs:last_id') or 0) or 0,
    tonumber(cache.text_at(ns .. 'jobs:highest') or 0) or 0)
  return last_known
end

local every_place = { false, 'p', 't', 'l', 's', 'c', 'f', 'T' }

-- Skips jobs whose queue or limit is about to change the score.
local function check_score(id, doc, score)
  if cache.queue(doc.queue).reordering
    or (doc.waiting_limit and limits.at(doc.waiting_limit).settings
    and limits.at(doc.waiting_limit).settings.reordering) then
    return
  end
  if tonumber(score) ~= order.score(doc) then
    fault(id, 'has score ' .. score .. ' in ' .. (doc.waiting_limit or states.index(doc.place))
      .. ', expected ' .. numbers.int(order.score(doc)), 'place')
  end
  local turn, tier = turns.turn_at(doc, doc.waiting_limit or '')
  if turn and tonumber(tier) ~= tonumber(score) then
    fault(id, 'has a turn at ' .. doc.waiting_limit .. ' of tier ' .. tier .. ', waits in ' .. score, 'count')
  end
end

local function check_waiting_place(id, doc)
  if doc.place ~= PLACE.limited then return 0 end
  local score = redis.call('ZSCORE', places.index_of(doc), places.member_of(id, doc))
  if not score then return 0 end
  check_score(id, doc, score)
  return 1
end

-- A job at a limit has a job before it or a time of the next check.
local function check_limit(key)
  local settings, waiting = limits.at(key).settings, redis.call('ZCARD', redis_keys.limit_key(key, 'waiting'))
  if settings and settings.waiting and settings.waiting ~= waiting then
    fault(key, waiting .. ' jobs wait at it, counted ' .. numbers.int(settings.waiting), 'count')
  end
  if waiting == 0 or (settings and settings.paused) then return end
  local moment = tonumber(redis.call('ZSCORE', ns .. 'wake', 'k:' .. key))
  if not moment then fault(key, waiting .. ' jobs wait at a limit, and no moment is set', 'look') end
  if moment and moment > time.now and limits.room_at(key) > 0 then
    fault(key, waiting .. ' jobs wait at a limit that has room for ' .. numbers.int(limits.room_at(key)), 'look')
  end
end

local function check_turns(key)
  local waiting, found = redis.call('ZRANGE', redis_keys.limit_key(key, 'waiting'), 0, size), {}
  if #waiting > size then return end
  local waiters = {}
  for i, member in ipairs(waiting) do waiters[i] = member:sub(15) end
  cache.fetch_jobs(waiters)
  sides.fetch_limits_of(waiters)
  for _, id in ipairs(waiters) do
    local doc, tier, group, _ = cache.find(id)
    if doc then _, tier, group = turns.turn_at(doc, key) end
    if tier then
      local owner = group ~= '' and 'group:' .. group or key
      local field = owner .. '\nturn:' .. tier .. ',' .. key
      found[field] = (found[field] or 0) + 1
    end
  end
  for field, n in pairs(found) do
    local owner, name = field:match('^(.*)\n(turn:.*)$')
    local counted = limits.at(owner).settings and limits.at(owner).settings[name]
    if counted and tonumber((counted:match('%d+$'))) ~= n then
      fault(key, n .. ' jobs of ' .. owner .. ' wait for their turns (' .. name .. '), counted '
        .. counted:match('%d+$'), 'count')
    end
  end
end

local function check_slots(key)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', redis_keys.limit_key(key, 'held'), '(' .. numbers.int(time.now),
    '+inf', 'LIMIT', 0, size)) do
    local holder_doc = cache.find(id)
    if not holder_doc or holder_doc.place ~= PLACE.leased
      or not tables.has(tables.lines(holder_doc.held_limits), key) then
      fault(key, 'a slot is held by job ' .. id .. ', which has no run that holds it', 'slot')
    end
  end
end

local checked = {}
local function check_lengths(number)
  checked[number] = true
  local piece = whereabouts.piece(number)
  local lists = readable.decode(piece.own or '{}', '') or {}
  lists.args = readable.decode(piece.args, '') or {}
  for _, list in pairs(lists) do
    if type(list) ~= 'table' or #list < #piece.mask then
      return fault(number, 'the record of jobs ' .. number .. '00 to ' .. number .. '99 has fewer values than jobs',
        'piece', 'piece')
    end
  end
end

local function check_piece(id)
  local number = pieces.place_of(id)
  if not checked[number] then check_lengths(number) end
  for _, wrong in ipairs(whereabouts.faults_of(id)) do fault(id, wrong, 'place') end
end

local function check_place(id, doc)
  if cache.loose[id] then return check_piece(id) end
  if whereabouts.is_twice(id) then fault(id, 'has a document, and is in a piece besides', 'place') end
  local n = check_waiting_place(id, doc)
  for _, place in ipairs(every_place) do
    local member = (not place or place == 'p') and doc.sequence .. ':' .. id or id
    local score = tally.score(doc.queue, states.index(place), member)
    if score then
      n = n + 1
      if place == 'l' and (cache.queue(doc.queue).leased or {})[id]
        and redis.call('ZSCORE', redis_keys.queue_key(doc.queue, 'leases'), id) then
        n = n + 1
      end
      if (not place or place == 'p') and (doc.place or false) == place then check_score(id, doc, score) end
      if (doc.place or false) ~= place then
        fault(id, 'is in ' .. states.index(place) .. ', its document says '
          .. states.index(doc.place), 'place')
      end
    end
  end
  if n ~= 1 then fault(id, 'is in ' .. n .. ' places (' .. states.of(doc) .. ')', 'place') end
end

local function check_lease(id, doc)
  if (doc.place == PLACE.leased) ~= (doc.token ~= nil) then fault(id, 'token and place disagree', 'lease') end
  if doc.place == PLACE.leased and not cache.queue(doc.queue).next_lease then
    fault(id, 'is leased, and no check is set for the end of the lease', 'look')
  end
  if doc.place == PLACE.timers and not cache.queue(doc.queue).next_timer then
    fault(id, 'waits for a time, and no check is set', 'look')
  end
end

local function check_ports(id, doc)
  for field in pairs(doc) do
    local dir, port = field:match('^([io]):(.+)$')
    if dir and doc[field]:find('^%d+,%d+') then
      local pushed, taken = ports.counts(doc, dir, port)
      local own = doc['v' .. field] and #(readable.decode(doc['v' .. field], '') or {}) or 0
      local size = own + redis.call('LLEN', redis_keys.list_key(id, dir, port))
      if own > 0 and size > own then
        fault(id, redis_keys.direction[dir] .. ' port ' .. port .. ' has values in the document and in a list', 'count')
      end
      if size ~= pushed - taken then
        fault(id, redis_keys.direction[dir] .. ' port ' .. port .. ' holds ' .. numbers.int(size) .. ', counted '
          .. numbers.int(pushed - taken), 'count')
      end
    end
  end
end

local function check_history(id, doc)
  local n = redis.call('LLEN', redis_keys.side_key(id, 'runs'))
  if n ~= (tonumber(doc.history_kept) or 0) then
    fault(id, 'keeps ' .. n .. ' runs, counted ' .. (doc.history_kept or '0'), 'count')
  end
  local most = leases.most_kept(doc)
  if n > most then fault(id, 'keeps ' .. n .. ' runs, and may keep ' .. numbers.int(most), 'count') end
end

local function check_listening(id, doc)
  for field in pairs(doc) do
    local port = field:match('^ci:(.+)$')
    for _, channel in ipairs(port and audience.channels_of(id, doc, 'i', port) or {}) do
      if not redis.call('ZSCORE', ns .. 'channel:' .. channel, id .. ':' .. port) then
        fault(id, 'in port ' .. port .. ' listens to ' .. channel .. ', which does not know it', 'listen')
      end
    end
  end
end

local function check_channel(channel)
  local text = cache.text_at(ns .. 'audience:' .. channel)
  if text and not text:match('^%d+') then return fault(channel, 'its list of listeners cannot be read', 'count') end
  local n, relayed_by, listed = audience.of(channel)
  local members = redis.call('ZCARD', ns .. 'channel:' .. channel)
  if members ~= n then fault(channel, 'has ' .. members .. ' listeners, counted ' .. numbers.int(n), 'count') end
  for _, member in ipairs(listed or {}) do
    if not redis.call('ZSCORE', ns .. 'channel:' .. channel, member) then
      fault(channel, 'names ' .. member .. ', which does not listen', 'count')
    end
  end
  local known = cache.hget(ns .. 'channels', channel)
  if known ~= (cache.text_at(ns .. 'audience:' .. channel) or ''):match('^%S+') then
    fault(channel, 'is listed as ' .. tostring(known), 'count')
  end
  local doc = relayed_by and cache.find(relayed_by)
  if relayed_by and (not doc or doc.relay_channel ~= channel) then
    fault(channel, 'its relay, job ' .. relayed_by .. ', is none', 'gone')
  end
end

-- Parts that are known to reach a root are not walked again.
local rooted = {}
local function check_circle(id)
  local way, seen, above = {}, {}, id
  while above and not rooted[above] and not seen[above] do
    seen[above] = true
    way[#way + 1] = above
    local above_doc = cache.find(above)
    above = above_doc and above_doc.parent
  end
  if above == id and seen[id] then fault(id, 'is above itself', 'circle') end
  if above and seen[above] then return end
  for _, member in ipairs(way) do rooted[member] = true end
end

local function check_family(id, doc)
  if doc.parent then
    check_circle(id)
    local parent = cache.find(doc.parent)
    if readable.damaged[redis_keys.key_of(doc.parent)] then return end
    if not parent then
      fault(id, 'its parent ' .. doc.parent .. ' does not exist', 'tie')
    else
      local entry = cache.hget(kin.children_key(doc.parent), doc.child_name) or ''
      local status = states.of(doc)
      if status == 'running' then status = entry:match('^%d+,(%a+)') end
      if entry ~= id .. ',' .. tostring(status) .. ',' .. doc.class then
        fault(id, 'its parent knows it as ' .. entry .. ', it is ' .. states.of(doc), 'tie')
      end
    end
  end
  for _, child in ipairs(kin.children_of(id, doc)) do
    local child_doc = cache.find(child.id)
    if not child_doc and not readable.damaged[redis_keys.key_of(child.id)] then
      fault(id, 'its child ' .. child.id .. ' does not exist', 'tie')
    elseif child_doc and (child_doc.parent ~= id or child_doc.child_name ~= child.name) then
      fault(id, 'knows job ' .. child.id .. ' as its child ' .. child.name .. ', which it is not', 'tie')
    end
  end
end

local function check_waiting(id, doc)
  if not doc.waits_for then return end
  local members = redis.call('SMEMBERS', redis_keys.side_key(id, 'waiting'))
  if #members ~= tonumber(doc.waits_for_count) then
    fault(id, 'waits for ' .. doc.waits_for_count .. ' children, the set holds ' .. #members, 'tie')
  end
  if #members == 0 then fault(id, 'waits for nothing', 'tie') end
  for _, child in ipairs(members) do
    local child_doc = cache.find(child)
    if not readable.damaged[redis_keys.key_of(child)] and (not child_doc or states.ends[states.of(child_doc)]) then
      fault(id, 'waits for child ' .. child .. ', which has ended', 'tie')
    end
  end
end

local function check_following(id, doc)
  if not doc.followed then return end
  local n = { b = 0, s = 0, c = 0, x = 0 }
  for _, child in ipairs(kin.children_of(id, doc)) do
    local child_doc = cache.find(child.id)
    local kind = child_doc and states.kinds[states.of(child_doc)]
    if kind then n[kind] = n[kind] + 1 end
    if child_doc and child_doc.followed_as ~= kind then
      fault(id, 'counts child ' .. child.id .. ' as ' .. tostring(child_doc.followed_as) .. ', it is '
        .. states.of(child_doc), 'tie')
    end
  end
  local counted = numbers.int(n.b) .. ',' .. numbers.int(n.s) .. ',' .. numbers.int(n.x)
  if counted ~= doc.followed then
    fault(id, 'follows ' .. doc.followed .. ' children (busy, suspended, broken), has ' .. counted, 'tie')
  end
  if (doc.place == PLACE.completed) ~= (counted == '0,0,0')
    and (doc.place == PLACE.completed or doc.place == PLACE.suspended) then
    fault(id, 'is ' .. states.of(doc) .. ' with ' .. counted .. ' children (busy, suspended, broken)', 'tie')
  end
end

local function check_wires(id, doc)
  for field in pairs(doc) do
    local dir, port = field:match('^w([io]):(.+)$')
    if dir and ports.counts(doc, dir, port) and wires.holds(id, doc, dir, port)
      and wires.ends_of(id, doc, dir, port) then
      local owner_doc = cache.find(dir == 'i' and id or doc.parent)
      if owner_doc.place == PLACE.suspended or owner_doc.place == PLACE.completed then
        fault(id, 'keeps values at ' .. redis_keys.direction[dir] .. ' port ' .. port .. ', whose wires lead somewhere',
          'look')
      end
    end
  end
end

local function check_run(id, doc)
  if doc.place ~= PLACE.leased or not doc.lease_until then return end
  local score = not cache.loose[id] and tally.score(doc.queue, 'leases', id)
  if score and tonumber(score) ~= tonumber(doc.lease_until) then
    fault(id, 'its lease ends at ' .. doc.lease_until .. ', its queue looks at ' .. score, 'place')
  end
  -- An ended lease holds no slot, and its limit may have been deleted and created again.
  if tonumber(doc.lease_until) <= time.now then return end
  for _, key in ipairs(tables.lines(doc.held_limits)) do
    if limits.at(key).settings and not redis.call('ZSCORE', redis_keys.limit_key(key, 'held'), id) then
      fault(id, 'its run holds no slot of limit ' .. key, 'slot')
    end
  end
end

local function check_names(id, doc)
  for _, alias in ipairs(aliases.of(id, doc)) do
    local owner = cache.hget(ns .. 'jobs:aliases', alias)
    if owner ~= id then
      fault(id, 'has alias ' .. alias .. ', which names ' .. (owner and 'job ' .. owner or 'no job'), 'name')
    end
  end
  if doc.repeats and doc.place ~= PLACE.terminated and not redis.call('ZSCORE', ns .. 'repeats', id) then
    fault(id, 'repeats, and is not among the schedules', 'place')
  end
  if cache.raw[redis_keys.queue_key(doc.queue)] == false then
    fault(id, 'its queue ' .. doc.queue .. ' has no settings', 'look')
  end
end

local function check_values(id, doc)
  for field, value in pairs(doc) do
    if cache.is_beside(field, value) and redis.call('EXISTS', redis_keys.side_key(id, 'f:' .. field)) == 0 then
      fault(id, 'value ' .. field .. ' is missing', 'lost')
    end
  end
end

-- Maximum difference between the clocks of Redis and the script.
local SOON = 1000

local function check_result(id, doc)
  local left = redis.call('PTTL', ns .. 'result:' .. id)
  if left == -1 then fault(id, 'its result never expires', 'result') end
  if left == -2 and tonumber(doc.result_until or 0) > time.now + SOON then
    fault(id, 'its result is gone before its time', 'unkept')
  end
end

local function check_shape(id, doc)
  for field, why in pairs(shape.faults_of(doc)) do fault(id, 'field ' .. field .. ' ' .. why, 'field') end
end

local listed_queues = {}
local function check_listed(q)
  if listed_queues[q] == nil then listed_queues[q] = redis.call('SISMEMBER', ns .. 'queues', q) == 1 end
  return listed_queues[q]
end

local function check_job(id, doc)
  seen = seen + 1
  cache.queue(doc.queue)
  if not check_listed(doc.queue) then fault(id, 'its queue ' .. doc.queue .. ' is not listed', 'place') end
  if next(shape.faults_of(doc)) then return check_shape(id, doc) end
  for _, check in ipairs({ check_place, check_lease, check_run, check_ports, check_history, check_listening,
    check_family, check_waiting, check_following, check_wires, check_names, check_values, check_result }) do
    check(id, doc)
  end
end

local HEAD_LENGTH = 20

-- No lane lives longer, and no stored time is later than the first of its index.
local MAX_LANE = 86400000

local function check_moments(q, queue_record, wake)
  for place, field in pairs(cache.first_times) do
    -- A score without an end is `inf`, which only some engines read as a number.
    local first = tonumber(redis.call('ZRANGE', redis_keys.queue_key(q, place), 0, 0, 'WITHSCORES')[2]) or numbers.never
    if first < numbers.never and first < (queue_record[field] or numbers.never) then
      fault(q, 'is looked at too late for the first job in ' .. place, 'look')
    end
  end
  local moment = lanes.moment_of(queue_record)
  if wake and moment < numbers.never and tonumber(wake) > math.max(moment, time.now) + 2 * lanes.MINUTE then
    fault(q, 'is looked at later than it is due', 'look')
  end
  for lane, till in pairs(queue_record.lanes) do
    if type(till) ~= 'number' or till > time.now + MAX_LANE then
      fault(q, 'lane ' .. lane .. ' is said to be open for more than a day', 'look')
    end
  end
end

local function check_classes(q)
  local definitions = redis.call('HGETALL', ns .. 'workers:' .. q)
  for i = 1, #definitions, 2 do
    if not readable.decode(definitions[i + 1], '') then
      fault(q, 'the definition of class ' .. definitions[i] .. ' cannot be read', 'class')
    end
  end
end

local function check_queue(q)
  local queue_record = cache.queue(q)
  local text = cache.text_at(redis_keys.queue_key(q))
  check_classes(q)
  if readable.damaged[redis_keys.queue_key(q)] then
    return fault(q, 'its record cannot be read; defaults apply', 'settings')
  end
  local as_kept = text and cjson.decode(text) or queue_record
  local packed = as_kept[queue_fields.packed] or {}
  local ready = tally.count(q, 'ready')
  local wake = redis.call('ZSCORE', ns .. 'wake', 'q:' .. q)
  if ready > 0 and lanes.count(q) == 0 and not queue_record.paused and not wake then
    fault(q, ready .. ' jobs are ready, and neither lane nor moment is set', 'look')
  end
  check_moments(q, queue_record, wake)
  if lanes.moment_of(queue_record) < numbers.never and not wake then
    fault(q, 'has a moment to look at it, and is not in the index', 'look')
  end
  for place, letter in pairs(queue_record.jobs_at and redis_keys.letters or {}) do
    local n, counted = tally.count(q, place), queue_record.jobs_at[letter] or 0
    local in_pieces = whereabouts.packed_in(q, place)
    if in_pieces and in_pieces ~= (packed[letter] or 0) then
      fault(q, 'has ' .. numbers.int(in_pieces) .. ' jobs in pieces beyond the entries of ' .. place .. ', counted '
        .. numbers.int(packed[letter] or 0), 'count')
    end
    if n ~= counted then
      fault(q, 'has ' .. numbers.int(n) .. ' jobs in ' .. place .. ', counted ' .. numbers.int(counted), 'count')
    end
  end
  for _, place in ipairs(every_place) do
    local members, members_ids = tally.members(q, states.index(place), HEAD_LENGTH), {}
    for i, member in ipairs(members) do members_ids[i] = member:match(':(.+)$') or member end
    cache.fetch_jobs(members_ids)
    for _, member in ipairs(members_ids) do
      local number = pieces.number_in(member)
      local is_there = number and whereabouts.piece(number)
      if not number then is_there = cache.find(member) end
      local id = member:match('^%d+$')
      if id and is_there and tonumber(id) > last_id() then
        fault('jobs:last_id', 'is ' .. numbers.int(last_id()) .. ', and queue ' .. q .. ' has job ' .. id, 'ids',
          'data')
      end
      if not is_there then
        fault(q, states.index(place) .. ' names job ' .. member .. ', which does not exist', 'gone')
      end
    end
  end
end

local function check_limit_whole(key)
  limits.at(key)
  if readable.damaged[redis_keys.limit_key(key)] then
    return fault(key, 'its record cannot be read; it binds no job', 'settings')
  end
  check_limit(key)
  check_turns(key)
  check_slots(key)
end

local function check_alias(alias, id)
  local doc = id:match('^%d+$') and cache.find(id)
  local known = doc and tables.has(aliases.of(id, doc), alias)
  if not known and not readable.damaged[redis_keys.key_of(id)] then
    fault(alias, 'names job ' .. id .. ', which ' .. (doc and 'does not know it' or 'does not exist'), 'gone')
  end
end

local function check_schedule(id)
  local doc = cache.find(id)
  if readable.damaged[redis_keys.key_of(id)] then return end
  if not doc or not doc.repeats then
    fault(id, 'is among the schedules, and ' .. (doc and 'does not repeat' or 'does not exist'), 'gone')
  end
end

local seen_pieces = {}
local function check_unreadable(id)
  if readable.damaged[redis_keys.key_of(id)] then return fault(id, 'its record cannot be read', 'record') end
  local number = pieces.place_of(id)
  if not number or seen_pieces[number] or not readable.damaged[redis_keys.piece_key(number)] then return end
  seen_pieces[number] = true
  fault(number, 'the record of jobs ' .. number .. '00 to ' .. number .. '99 cannot be read', 'piece', 'piece')
end

local function check_jobs()
  local last, ids = last_id(), {}
  for id = from, math.min(last, from + size - 1) do ids[#ids + 1] = numbers.int(id) end
  whereabouts.fetch(ids)
  for _, id in ipairs(ids) do
    local ok, doc = pcall(cache.find, id)
    if ok and doc then look(check_job, id, doc) elseif ok then check_unreadable(id) else look(cache.find, id) end
  end
  return from + size <= last and numbers.int(from + size) or '0'
end

local AT_ONCE = 10
local function scan(command, key, step, check)
  local page = redis.call(command, ns .. key, numbers.int(from), 'COUNT', AT_ONCE)
  for i = 1, #page[2], step do look(check, page[2][i], page[2][i + 1]) end
  return page[1]
end

local function check_ids()
  local last = tonumber(cache.text_at(ns .. 'jobs:last_id') or 0)
  if not last then return fault('jobs:last_id', 'is not a number', 'ids') end
  if last < last_id() then
    fault('jobs:last_id', 'is ' .. numbers.int(last) .. ', its copy is ' .. numbers.int(last_id()), 'ids')
  end
end

local MAX_COUNTED = 1000
local function check_hints()
  local text = cache.text_at(ns .. 'hints')
  local system, version = (text or '0,0,'):match('^(%d+),%d+,(%d*)$')
  if not system then return fault('hints', 'cannot be read', 'hints') end
  local all = redis.call('HLEN', ns .. 'channels') <= MAX_COUNTED and redis.call('HKEYS', ns .. 'channels') or nil
  local listeners = 0
  for _, channel in ipairs(all or {}) do
    if audience.is_system(channel) then listeners = listeners + redis.call('ZCARD', ns .. 'channel:' .. channel) end
  end
  if all and listeners ~= tonumber(system) then
    fault('hints', 'counts ' .. system .. ' listeners of system channels, there are ' .. listeners, 'hints')
  end
  local known = hints.stored_version()
  if known and known ~= version then
    fault('hints', 'has constraints of version ' .. version .. ', expected version ' .. known, 'hints')
  end
end

local function check_constraints()
  local text = cache.text_at(ns .. 'constraints')
  if not text then return end
  local all = readable.decode(text, '')
  local is_sound = all and type(all.list) == 'table' and tonumber(all.version)
  for _, one in pairs(is_sound and all.list or {}) do is_sound = is_sound and readable.decode(tostring(one), '') end
  if not is_sound then fault('constraints', 'cannot be read', 'constraints') end
end

local replaced = { ['queue'] = 'queue', limit = 'limit', job = 'job' }
local function check_listed_unreadable()
  for line in (cache.text_at(ns .. 'unreadable') or ''):gmatch('[^\n]+') do
    local name = line:match('^%d+ (.*)$') or line
    local of, who = name:match('^(%a+):(.*)$')
    local id = of == 'job' and who:match('^%d+$')
    local is_still = id and (cache.find(id) or true) and readable.damaged[redis_keys.key_of(id)]
    local number = of == 'jobs' and who:match('^%d+$')
    if number then
      is_still = redis.call('EXISTS', redis_keys.piece_key(number)) == 1 and (cache.piece(number) or true)
        and readable.damaged[redis_keys.piece_key(number)]
    end
    if not is_still then
      fault(name, 'could not be read, and has been '
        .. (replaced[of] and not id and 'replaced' or 'repaired or deleted') .. ' since', 'settings', 'unreadable')
    end
  end
end

local function check_data()
  for _, check in ipairs({ check_ids, check_hints, check_constraints, check_listed_unreadable }) do
    look(check, 'data')
  end
  return '0'
end

local is_there = {}
local function exists(id)
  if is_there[id] == nil then
    local number, at = pieces.place_of(id)
    local text = number and redis.call('GET', redis_keys.piece_key(number))
    is_there[id] = redis.call('EXISTS', redis_keys.key_of(id)) == 1 or (text and text:sub(at, at) == '1') or false
  end
  return is_there[id]
end

local function check_key(name)
  local id, side = name:match('^job:(%d+)(:?)')
  local number = name:match('^jobs:(%d+)$')
  if (id and side == '' and tonumber(id) > last_id()) or (number and tonumber(number) * pieces.SIZE > last_id()) then
    fault('jobs:last_id', 'is ' .. numbers.int(last_id()) .. ', and there is ' .. name, 'ids', 'data')
  elseif side == ':' and not exists(id) then
    fault(name, 'belongs to job ' .. id .. ', which does not exist', 'orphan')
  end
  local holder = name:find('^unique:') and redis.call('TYPE', ns .. name).ok == 'string'
    and redis.call('GET', ns .. name)
  if holder and not holder:find(',', 1, true) and not exists(holder) then
    fault(name, 'names job ' .. holder .. ', which does not exist', 'orphan')
  end
end

local KEYS_AT_ONCE = 200
local function check_keys()
  local page = redis.call('SCAN', numbers.int(from), 'COUNT', KEYS_AT_ONCE)
  for _, key in ipairs(page[2]) do
    if key:sub(1, #ns) == ns then look(check_key, key:sub(#ns + 1)) end
  end
  return page[1]
end

local phases = {
  [0] = { 'job', check_jobs },
  { 'queue', function() return scan('SSCAN', 'queues', 1, check_queue) end },
  { 'limit', function() return scan('SSCAN', 'limits', 1, check_limit_whole) end },
  { 'channel', function() return scan('HSCAN', 'channels', 2, check_channel) end },
  { 'alias', function() return scan('HSCAN', 'jobs:aliases', 2, check_alias) end },
  { 'schedule', function() return scan('ZSCAN', 'repeats', 2, check_schedule) end },
  { 'data', check_data },
  { 'data', check_keys },
}

repeat
  kind = phases[phase][1]
  local ok, next_from = pcall(phases[phase][2])
  if not ok then
    look(phases[phase][2], kind)
    next_from = '0'
  end
  from = tonumber(next_from)
  if from == 0 then phase = phase + 1 end
until from > 0 or not phases[phase] or seen * 2 > size

return reply.verified { faults = faults, phase = phases[phase] and numbers.int(phase) or '', from = numbers.int(from),
  seen = numbers.int(seen) }
