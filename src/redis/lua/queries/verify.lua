-- Checks the invariants of a slice of jobs, queues, limits, channels or names.
--
-- by: doctor
-- reads: audience, channel, channels, constraints, hints, job, jobs, limit, limits, queue, queues, repeats, result,
--   schema, unique, unreadable, versions, wake, workers
-- from: an id for jobs, otherwise a scan cursor

local phase, from, size = args.take_int(), args.take_int(), args.take_int()

local faults, seen, kind = {}, 0, 'job'

local function as_text(value) return type(value) == 'number' and numbers.int(value) or tostring(value) end

-- `%s` is the next value. After a number, `{job}` means job or jobs, and `{child|children}` has both forms.
local function fault(who, remedy, what, ...)
  local texts = { ... }
  for i = 1, select('#', ...) do texts[i] = as_text(texts[i]) end
  faults[#faults + 1] = row_of.found { kind = kind, who = who, what = what, remedy = remedy, values = texts }
end

local function fault_of(kind_of_fault, ...)
  local was = kind
  kind = kind_of_fault
  fault(...)
  kind = was
end

local function fault_piece(number, what)
  fault_of('piece', number, 'piece', 'the record of jobs %s00 to %s99 %s', number, number, what)
end

local function check_equal(who, is, should_be, remedy, what)
  if is ~= should_be then fault(who, remedy, what, is, should_be) end
end

local function cannot_check(who, why)
  why = tostring(type(why) == 'table' and (why.err or why.message) or why):sub(1, 200)
  fault(who, kind == 'job' and 'record' or 'look', 'cannot be checked: %s', why)
end

local function look(check, who, ...)
  local ok, why = pcall(check, who, ...)
  if not ok then cannot_check(who, why) end
end

local function check_score(id, doc, score)
  local settings = doc.waiting_limit and limits.of(doc.waiting_limit)
  if cache.queue(doc.queue).reordering or (settings and settings.reordering) then return end
  if tonumber(score) ~= order.score(doc) then
    fault(id, 'place', 'has score %s in %s, expected %s', score, doc.waiting_limit or states.index(doc.place),
      order.score(doc))
  end
  local turn, tier = turns.turn_at(doc, doc.waiting_limit or '')
  if turn and tonumber(tier) ~= tonumber(score) then
    fault(id, 'count', 'has a turn at %s in tier %s, but waits in tier %s', doc.waiting_limit, tier, score)
  end
end

local function check_limit(key)
  local waits = '%s {job waits|jobs wait} for it, but '
  local settings, waiting = limits.of(key), limits.count_in_line(key)
  local counted = settings and settings.waiting or waiting
  check_equal(key, waiting, counted, 'count', waits .. 'its count is %s')
  if waiting == 0 or (settings and settings.paused) then return end
  local moment = tonumber(redis.call('ZSCORE', ns .. 'wake', 'k:' .. key))
  if not moment then fault(key, 'look', waits .. 'no check is set', waiting) end
  if moment and moment > time.now and limits.room_at(key) > 0 then
    fault(key, 'look', waits .. 'it has room for %s', waiting, limits.room_at(key))
  end
end

local function check_turns(key)
  local waiting, found = redis.call('ZRANGE', redis_keys.limit(key, 'waiting'), 0, size), {}
  if #waiting > size then return end
  local waiters = {}
  for i, member in ipairs(waiting) do waiters[i] = member:sub(15) end
  cache.fetch_jobs(waiters)
  sides.fetch_limits_of(waiters)
  for _, doc in cache.each(waiters) do
    local _, tier, group = turns.turn_at(doc, key)
    if tier then
      local owner = group ~= '' and 'group:' .. group or key
      local field = owner .. '\nturn:' .. tier .. ',' .. key
      found[field] = (found[field] or 0) + 1
    end
  end
  for field, n in pairs(found) do
    local owner, name = field:match('^(.*)\n(turn:.*)$')
    local counted = tonumber((((limits.of(owner) or {})[name] or ''):match('%d+$')))
    if counted and counted ~= n then
      fault(key, 'count', '%s has %s {waiting job} (%s), but its count is %s', owner, n, name, counted)
    end
  end
end

local function check_slots(key)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', redis_keys.limit(key, 'held'), '(' .. time.now_text,
    '+inf', 'LIMIT', 0, size)) do
    if not expected.holds_slot(id, key) then
      fault(key, 'slot', 'a slot is held by job %s, which has no run that holds it', id)
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
      return fault_piece(number, 'has fewer args than jobs')
    end
  end
end

local function check_piece(id)
  local number = pieces.place_of(id)
  if not checked[number] then check_lengths(number) end
  for _, wrong in ipairs(whereabouts.faults_of(id)) do fault(id, 'place', wrong) end
end

local function check_place(id, doc)
  if cache.loose[id] then return check_piece(id) end
  if whereabouts.is_packed(id) then fault(id, 'place', 'has its own record, but is also in a piece') end
  local n, waits = 0, doc.place == PLACE.limited
    and redis.call('ZSCORE', places.index_of(doc), places.member_of(id, doc))
  if waits then
    n = 1
    check_score(id, doc, waits)
  end
  for _, place in ipairs(expected.places) do
    local member = (not place or place == PLACE.pull) and doc.sequence .. ':' .. id or id
    local score, is_own = tally.score(doc.queue, states.index(place), member), (doc.place or false) == place
    if score then
      n = n + 1
      if place == PLACE.leased and (cache.queue(doc.queue).leased or {})[id]
        and redis.call('ZSCORE', redis_keys.queue(doc.queue, 'leases'), id) then
        n = n + 1
      end
      if is_own and (not place or place == PLACE.pull) then check_score(id, doc, score) end
      if not is_own then
        fault(id, 'place', 'is in %s, but its record names %s', states.index(place), states.index(doc.place))
      end
    end
  end
  if n ~= 1 then fault(id, 'place', 'is in %s places (%s)', n, states.of(doc)) end
  if doc.place == PLACE.failed and not kinds.has(id, doc) then
    fault(id, 'place', 'has failed, but is missing from the index of errors')
  end
end

local function check_lease(id, doc)
  if (doc.place == PLACE.leased) ~= (doc.token ~= nil) then
    fault(id, 'lease', 'has a token but no lease, or a lease but no token')
  end
  if doc.place == PLACE.leased and not cache.queue(doc.queue).next_lease then
    fault(id, 'look', 'is leased, but no check is set for the end of the lease')
  end
  if doc.place == PLACE.timers and not cache.queue(doc.queue).next_timer then
    fault(id, 'look', 'waits for a time, but no check is set')
  end
end

local function check_ports(id, doc)
  for _, port in ipairs(port_refs.of(id, doc)) do
    local pushed, taken = ports.counts(port)
    local own, listed = expected.values_of(port)
    if #own > 0 and listed > 0 then
      fault(id, 'count', '%s has values both in the record and in a list', ports.title(port))
    end
    if #own + listed ~= pushed - taken then
      local wrong = '%s has %s {value}, but its count is %s'
      fault(id, 'count', wrong, ports.title(port), #own + listed, pushed - taken)
    end
  end
end

local function check_history(id, doc)
  local n, most = redis.call('LLEN', redis_keys.side(id, 'runs')), leases.most_kept(doc)
  check_equal(id, n, tonumber(doc.history_kept) or 0, 'count', 'keeps %s {run}, but its count is %s')
  if n > most then fault(id, 'count', 'keeps %s {run}, but may keep at most %s', n, most) end
end

local function check_listening(id, doc)
  for _, at in ipairs(expected.listening(id, doc)) do
    if not redis.call('ZSCORE', ns .. 'channel:' .. at.channel, at.member) then
      fault(id, 'listen', '%s listens to %s, which does not list it', ports.title(at.port), at.channel)
    end
  end
end

local function check_channel(channel)
  local text, key = cache.text_at(ns .. 'audience:' .. channel), ns .. 'channel:' .. channel
  if text and not text:match('^%d+') then return fault(channel, 'count', 'its list of listeners cannot be read') end
  local n, relay, listed = audience.of(channel)
  check_equal(channel, redis.call('ZCARD', key), n, 'count', 'has %s {listener}, but its count is %s')
  for _, member in ipairs(listed or {}) do
    if not redis.call('ZSCORE', key, member) then
      fault(channel, 'count', 'names %s, which does not listen', member)
    end
  end
  check_equal(channel, cache.hget(ns .. 'channels', channel), (text or ''):match('^%S+'), 'count',
    'has the entry %s in the list of channels, expected %s')
  if relay and not expected.relays(channel, relay) then
    fault(channel, 'gone', 'its relay, job %s, is not a relay', relay)
  end
end

local function check_parent(id, doc)
  if not doc.parent then return end
  if expected.is_above_itself(id) then fault(id, 'circle', 'is its own ancestor') end
  local parent = cache.find(doc.parent)
  if readable.damaged[redis_keys.job(doc.parent)] then return end
  if not parent then return fault(id, 'tie', 'its parent %s does not exist', doc.parent) end
  local entry, status = cache.hget(kin.children_key(doc.parent), doc.child_name) or '', states.of(doc)
  if status == 'running' then status = entry:match('^%d+,(%a+)') end
  if entry ~= id .. ',' .. tostring(status) .. ',' .. doc.class then
    fault(id, 'tie', 'its parent lists it as %s, but it is %s', entry, states.of(doc))
  end
end

local function check_children(id, doc)
  for _, child in ipairs(expected.strangers(id, doc)) do
    fault(id, 'tie', 'lists job %s as its child %s, which %s', child.id, child.name,
      child.is_there and 'it is not' or 'does not exist')
  end
end

local function check_waiting(id, doc)
  if not doc.waits_for then return end
  local members = redis.call('SMEMBERS', redis_keys.side(id, 'waiting'))
  check_equal(id, tonumber(doc.waits_for_count), #members, 'tie', 'waits for %s {child|children}, but its set has %s')
  if #members == 0 then fault(id, 'tie', 'waits for nothing') end
  for _, child in ipairs(members) do
    local child_doc = cache.find(child)
    if not readable.damaged[redis_keys.job(child)] and (not child_doc or states.has_ended(child_doc)) then
      fault(id, 'tie', 'waits for child %s, which has ended', child)
    end
  end
end

local function check_following(id, doc)
  if not doc.followed then return end
  local counted, children = expected.followed(id, doc)
  for _, child in ipairs(children) do
    if child.doc.followed_as ~= child.is then
      fault(id, 'tie', 'counts child %s as %s, but it is %s', child.id, child.doc.followed_as, states.of(child.doc))
    end
  end
  check_equal(id, doc.followed, counted, 'tie', 'follows %s children (busy, suspended, broken), but has %s')
  if (doc.place == PLACE.completed) ~= (counted == '0,0,0') and states.is_idle(doc) then
    fault(id, 'tie', 'is %s with %s children (busy, suspended, broken)', states.of(doc), counted)
  end
end

local function check_wires(id, doc)
  for _, port in ipairs(port_refs.of(id, doc)) do
    if doc['w' .. port.field] and wires.holds(port) and wires.ends_of(port) then
      local owner_doc = cache.find(port.dir == 'i' and id or doc.parent)
      if states.is_idle(owner_doc) then
        fault(id, 'look', 'keeps values at %s, although its wires have targets', ports.title(port))
      end
    end
  end
end

local function check_run(id, doc)
  if doc.place ~= PLACE.leased or not doc.lease_until then return end
  local score = not cache.loose[id] and tally.score(doc.queue, 'leases', id)
  if score and tonumber(score) ~= tonumber(doc.lease_until) then
    fault(id, 'place', 'its lease ends at %s, but its queue is checked at %s', doc.lease_until, score)
  end
  if tonumber(doc.lease_until) <= time.now then return end
  for _, key in ipairs(tables.lines(doc.held_limits)) do
    if limits.of(key) and not redis.call('ZSCORE', redis_keys.limit(key, 'held'), id) then
      fault(id, 'slot', 'its run holds no slot of limit %s', key)
    end
  end
end

local function check_names(id, doc)
  for _, alias in ipairs(aliases.of(id, doc)) do
    local owner = aliases.owner(alias)
    if owner ~= id then
      fault(id, 'name', 'has alias %s, which names %s', alias, owner and 'job ' .. owner or 'no job')
    end
  end
  if doc.repeats and doc.place ~= PLACE.terminated and not redis.call('ZSCORE', ns .. 'repeats', id) then
    fault(id, 'place', 'repeats, but is not among the schedules')
  end
  if cache.raw[redis_keys.queue(doc.queue)] == false then
    fault(id, 'look', 'its queue %s has no settings', doc.queue)
  end
  local version = doc.pinned_to
  if version and not version:find('/', 1, true) and redis.call('HEXISTS', ns .. 'versions', version) == 0 then
    fault(id, 'version', 'is pinned to version %s, which no deployment announces', version)
  end
end

local function check_values(id, doc)
  for _, field in ipairs(expected.lost_values(id, doc)) do fault(id, 'lost', 'value %s is missing', field) end
end

-- Redis may expire a result up to this many milliseconds early.
local SOON = 1000

local function check_result(id, doc)
  local left = redis.call('PTTL', ns .. 'result:' .. id)
  if left == -1 then fault(id, 'result', 'its result never expires') end
  if left == -2 and tonumber(doc.result_until or 0) > time.now + SOON then
    fault(id, 'unkept', 'its result is missing before its expiry')
  end
end

local is_listed = {}
local function check_job(id, doc)
  seen = seen + 1
  cache.queue(doc.queue)
  if is_listed[doc.queue] == nil then
    is_listed[doc.queue] = redis.call('SISMEMBER', ns .. 'queues', doc.queue) == 1
  end
  if not is_listed[doc.queue] then fault(id, 'place', 'its queue %s is not listed', doc.queue) end
  local wrong = shape.faults_of(doc)
  for field, why in pairs(wrong) do fault(id, 'field', 'field %s %s', field, why) end
  if next(wrong) then return end
  for _, check in ipairs({ check_place, check_lease, check_run, check_ports, check_history, check_listening,
    check_parent, check_children, check_waiting, check_following, check_wires, check_names, check_values,
    check_result }) do
    check(id, doc)
  end
end

local HEAD_LENGTH = 20

local function check_moments(q, queue_record, wake)
  for place, field in pairs(cache.first_times) do
    local first = cache.first_moment(q, place)
    if first < numbers.never and first < (queue_record[field] or numbers.never) then
      fault(q, 'look', 'is checked too late for the first job in %s', place)
    end
  end
  local moment = lanes.moment_of(queue_record)
  if wake and moment < numbers.never and tonumber(wake) > math.max(moment, time.now) + 2 * lanes.MINUTE then
    fault(q, 'look', 'is checked later than it is due')
  end
  if not wake and moment < numbers.never then
    fault(q, 'look', 'has a time for a check, but is not in the index')
  end
  for _, lane in ipairs(expected.endless_lanes(q)) do
    fault(q, 'look', 'lane %s is open for more than a day', lane)
  end
end

local function check_counts(q, queue_record)
  local text = cache.text_at(redis_keys.queue(q))
  local packed = (text and cjson.decode(text) or queue_record)[queue_fields.packed] or {}
  for place, letter in pairs(queue_record.jobs_at and redis_keys.letters or {}) do
    local in_pieces, counted = whereabouts.packed_in(q, place), packed[letter] or 0
    if in_pieces and in_pieces ~= counted then
      local wrong = '%s {job in a piece has|jobs in pieces have} no separate entry in %s, but its count is %s'
      fault(q, 'count', wrong, in_pieces, place, counted)
    end
    check_equal(q, tally.count(q, place), queue_record.jobs_at[letter] or 0, 'count',
      'has %s {job} in ' .. place .. ', but its count is %s')
  end
end

local function check_entries(q, place)
  local ids = {}
  for i, member in ipairs(tally.members(q, place, HEAD_LENGTH)) do ids[i] = member:match(':(.+)$') or member end
  cache.fetch_jobs(ids)
  for _, id in ipairs(ids) do
    local number = pieces.number_in(id)
    local is_there = number and whereabouts.piece(number)
    if not number then is_there = cache.find(id) end
    if not is_there then
      fault(q, 'gone', '%s names job %s, which does not exist', place, id)
    elseif not number and tonumber(id) > expected.last_id() then
      fault_of('data', 'jobs:last_id', 'ids', 'is %s, and queue %s has job %s', expected.last_id(), q, id)
    end
  end
end

local function check_queue(q)
  local queue_record = cache.queue(q)
  for _, class in ipairs(expected.lost_classes(q)) do
    fault(q, 'class', 'the definition of class %s cannot be read', class)
  end
  if readable.damaged[redis_keys.queue(q)] then
    return fault(q, 'settings', 'its record cannot be read; defaults apply')
  end
  local ready, wake = tally.count(q, 'ready'), redis.call('ZSCORE', ns .. 'wake', 'q:' .. q)
  if ready > 0 and lanes.count(q) == 0 and not queue_record.paused and not wake then
    fault(q, 'look', '%s {job is|jobs are} ready, but it has no lane and no check is set', ready)
  end
  check_moments(q, queue_record, wake)
  check_counts(q, queue_record)
  check_equal(q, kinds.size(q), tally.count(q, 'failed'), 'errors',
    'has %s {entry|entries} in the index of errors, but %s {failed job}')
  for _, place in ipairs(expected.places) do check_entries(q, states.index(place)) end
end

local function check_limit_whole(key)
  limits.at(key)
  if readable.damaged[redis_keys.limit(key)] then
    return fault(key, 'settings', 'its record cannot be read; it limits no job')
  end
  check_limit(key)
  check_turns(key)
  check_slots(key)
end

local function check_alias(alias, id)
  if expected.has_alias(id, alias) or readable.damaged[redis_keys.job(id)] then return end
  fault(alias, 'gone', 'names job %s, which %s', id, cache.find(id) and 'does not list it' or 'does not exist')
end

local function check_schedule(id)
  if expected.repeats(id) or readable.damaged[redis_keys.job(id)] then return end
  fault(id, 'gone', 'is among the schedules, but %s', cache.find(id) and 'does not repeat' or 'does not exist')
end

local function check_unreadable(id)
  if readable.damaged[redis_keys.job(id)] then return fault(id, 'record', 'its record cannot be read') end
  local number = pieces.place_of(id)
  if not number or checked[number] or not readable.damaged[redis_keys.piece(number)] then return end
  checked[number] = true
  fault_piece(number, 'cannot be read')
end

local function check_id(id)
  local doc = cache.find(id)
  if doc then check_job(id, doc) else check_unreadable(id) end
end

local function check_jobs()
  local last, ids = expected.last_id(), {}
  for id = from, math.min(last, from + size - 1) do ids[#ids + 1] = numbers.int(id) end
  cache.fetch_jobs(ids)
  for _, id in ipairs(ids) do look(check_id, id) end
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
  if not last then return fault('jobs:last_id', 'ids', 'is not a number') end
  local copy = expected.last_id()
  if last < copy then fault('jobs:last_id', 'ids', 'is %s, but its copy is %s', last, copy) end
end

local MAX_COUNTED = 1000
local function check_hints()
  local text = cache.text_at(ns .. 'hints')
  local system, version = (text or '0,0,'):match('^(%d+),%d+,(%d*)$')
  if not system then return fault('hints', 'hints', 'cannot be read') end
  if redis.call('HLEN', ns .. 'channels') <= MAX_COUNTED then
    check_equal('hints', tonumber(system), expected.system_listeners(), 'hints',
      'counts %s {listener} of system channels, expected %s')
  end
  check_equal('hints', version, hints.stored_version() or version, 'hints',
    'has constraints of version %s, expected version %s')
end

local function check_constraints()
  local _, _, is_whole = expected.constraints()
  if cache.text_at(ns .. 'constraints') and not is_whole then fault('constraints', 'constraints', 'cannot be read') end
end

local replaced = { ['queue'] = true, limit = true, job = true }
local function check_listed_unreadable()
  for line in (cache.text_at(ns .. 'unreadable') or ''):gmatch('[^\n]+') do
    local name = line:match('^%d+ (.*)$') or line
    local of, id = name:match('^(jobs?):(%d+)$')
    if of == 'job' then cache.find(id) elseif of then cache.piece(id) end
    if not of or not readable.damaged[ns .. name] then
      fault_of('unreadable', name, 'settings', 'could not be read, and has been %s since',
        of ~= 'job' and replaced[name:match('^%a+')] and 'replaced' or 'repaired or deleted')
    end
  end
end

local function check_data()
  for _, check in ipairs({ check_ids, check_hints, check_constraints, check_listed_unreadable }) do
    look(check, 'data')
  end
  return '0'
end

local function exists(id) return cache.text_at(redis_keys.job(id)) or whereabouts.is_packed(id) end

local function check_key(name)
  local id, side = name:match('^job:(%d+)(:?)')
  local number = name:match('^jobs:(%d+)$')
  local least = side == '' and tonumber(id) or (number and tonumber(number) * pieces.SIZE)
  if least and least > expected.last_id() then
    fault_of('data', 'jobs:last_id', 'ids', 'is %s, but there is %s', expected.last_id(), name)
  elseif side == ':' and not exists(id) then
    fault(name, 'orphan', 'belongs to job %s, which does not exist', id)
  end
  local holder = name:find('^unique:') and redis.call('TYPE', ns .. name).ok == 'string'
    and redis.call('GET', ns .. name)
  if holder and not holder:find(',', 1, true) and not exists(holder) then
    fault(name, 'orphan', 'names job %s, which does not exist', holder)
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
  { 'queue', scan, 'SSCAN', 'queues', 1, check_queue },
  { 'limit', scan, 'SSCAN', 'limits', 1, check_limit_whole },
  { 'channel', scan, 'HSCAN', 'channels', 2, check_channel },
  { 'alias', scan, 'HSCAN', 'jobs:aliases', 2, check_alias },
  { 'schedule', scan, 'ZSCAN', 'repeats', 2, check_schedule },
  { 'data', check_data },
  { 'data', check_keys },
}

repeat
  kind = phases[phase][1]
  local ok, next_from = pcall(unpack(phases[phase], 2, 6))
  if not ok then
    cannot_check(kind, next_from)
    next_from = '0'
  end
  from = tonumber(next_from)
  if from == 0 then phase = phase + 1 end
until from > 0 or not phases[phase] or seen * 2 > size

return reply.verified { faults = faults, phase = phases[phase] and phase or '', from = from, seen = seen }
