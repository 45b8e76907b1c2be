-- Repairs the faults that `verify` finds. Trusts the documents, and rewrites indexes, counts and relations from them.
--
-- by: doctor
-- reads: listened
-- updates: audience, channel, channels, constraints, days, hints, job, jobs, limit, limits, queue, queues, quota,
--   repeats, result, schema, unique, unreadable, wake, workers
-- writes: counts, gone, lane, live, log

local mend = {}

local function drop_other_type(key, wanted)
  local is = redis.call('TYPE', key).ok
  if is ~= 'none' and is ~= wanted then redis.call('DEL', key) end
end

function mend.values(id, doc)
  local lost = expected.lost_values(id, doc)
  for _, field in ipairs(lost) do cache.change(id, doc, field, nil) end
  if not tables.has(lost, fields.args) or states.resting[doc.place] then return end
  if doc.place == PLACE.leased then leases.finish(id, doc) end
  ending.fail(id, doc, '{"message":"its args are lost","reason":"other"}')
end

-- If a port has values in a list and in the document, both count, and the values in the document are older.
function mend.ports(id, doc)
  for _, port in ipairs(port_refs.of(id, doc)) do
    local key = redis_keys.list(port)
    drop_other_type(key, 'list')
    local own, listed = expected.values_of(port)
    if #own > 0 and listed > 0 then
      for i = #own, 1, -1 do redis.call('LPUSH', key, own[i]) end
      cache.change(id, doc, 'v' .. port.field, nil)
    end
    local taken = tonumber((doc[port.field]:match('^%d+,(%d+)'))) or 0
    ports.set_counts(port, taken + #own + listed, taken)
  end
end

function mend.history(id, doc)
  local key, most = redis_keys.side(id, 'runs'), leases.most_kept(doc)
  if most == 0 then
    cache.del(key)
  elseif redis.call('LLEN', key) > most then
    redis.call('LTRIM', key, -most, -1)
  end
  local n = math.min(redis.call('LLEN', key), most)
  cache.change(id, doc, fields.history_kept, n > 0 and n or nil)
end

function mend.names(id, doc)
  local kept = {}
  for _, alias in ipairs(aliases.of(id, doc)) do
    local owner = aliases.owner(alias)
    if owner == id or not expected.has_alias(owner, alias) then
      aliases.set_owner(alias, id)
      kept[#kept + 1] = alias
    end
  end
  cache.change(id, doc, fields.aliases, kept[1] and cjson.encode(kept) or nil)
end

function mend.channel(channel)
  local key = ns .. 'channel:' .. channel
  for _, member in ipairs(redis.call('ZRANGE', key, 0, 999)) do
    local id, name = member:match('^(%d+):(.*)$')
    local doc = id and cache.find(id)
    if not doc or not tables.has(audience.channels_of(port_refs.at(id, doc, 'i', name)), channel) then
      redis.call('ZREM', key, member)
    end
  end
  local n, _, relay = redis.call('ZCARD', key), audience.of(channel)
  local members = n <= audience.FEW and redis.call('ZRANGE', key, 0, -1) or nil
  audience.set(channel, n, expected.relays(channel, relay) and relay or nil, members)
end

function mend.listening(id, doc)
  for _, at in ipairs(expected.listening(id, doc)) do
    redis.call('ZADD', ns .. 'channel:' .. at.channel, 0, at.member)
    mend.channel(at.channel)
  end
end

function mend.wires(id, doc)
  for _, port in ipairs(port_refs.of(id, doc)) do
    if doc['w' .. port.field] and wires.holds(port) then write.set_off(port) end
  end
end

function mend.waiting(id, doc)
  if not doc.waits_for then return end
  local key, wanted, n = redis_keys.side(id, 'waiting'), {}, 0
  local names = doc.waits_for ~= '*' and (readable.decode(doc.waits_for, '') or {})
  for child, child_doc in kin.each(id, doc) do
    if not states.has_ended(child_doc) and (not names or tables.has(names, child_doc.child_name)) then
      wanted[child] = true
      cache.sset(key, child, true)
      n = n + 1
    end
  end
  for _, member in ipairs(redis.call('SMEMBERS', key)) do
    if not wanted[member] then cache.sset(key, member, false) end
  end
  cache.change(id, doc, fields.waits_for_count, n)
  if n > 0 then return end
  queueing.stop_waiting(id, doc)
  if doc.place == PLACE.suspended then queueing.enqueue(id, doc, true) end
end

function mend.following(id, doc)
  if not doc.followed then return end
  local counted, children = expected.followed(id, doc)
  for _, child in ipairs(children) do cache.change(child.id, child.doc, fields.followed_as, child.is) end
  cache.change(id, doc, fields.followed, counted)
  if states.is_idle(doc) then follow.keep_up(id, doc) end
end

function mend.family(id, doc)
  if expected.is_above_itself(id) then kin.unlink(id, doc) end
  for _, child in ipairs(expected.strangers(id, doc)) do cache.hset(kin.children_key(id), child.name, false) end
  mend.waiting(id, doc)
  mend.following(id, doc)
  if not doc.parent then return end
  local parent = cache.find(doc.parent)
  if readable.damaged[redis_keys.job(doc.parent)] then return end
  if not parent then
    return cache.clear(id, doc, { fields.parent, fields.child_name, fields.followed_as, fields.held })
  end
  places.set_entry(id, doc, states.of(doc))
  cache.change(doc.parent, parent, fields.has_children, '1')
  mend.waiting(doc.parent, parent)
  mend.following(doc.parent, parent)
end

function mend.run(id, doc)
  local is_run = doc.token and doc.lease_until
  if (doc.place == PLACE.leased) == (is_run ~= nil) then
    for _, key in ipairs(tables.lines(doc.place == PLACE.leased and doc.held_limits)) do
      if limits.of(key) then cache.zset(redis_keys.limit(key, 'held'), id, tonumber(doc.lease_until)) end
    end
    return
  end
  leases.finish(id, doc)
  if doc.place == PLACE.leased then queueing.enqueue(id, doc, true) end
end

local moments = {
  l = function(_, doc) return tonumber(doc.lease_until) end,
  s = function() return numbers.never end,
}
function mend.place(id, doc)
  local q = doc.queue
  cache.leave_piece(id)
  if (cache.queue(q).leased or {})[id] then redis.call('ZREM', redis_keys.queue(q, 'leases'), id) end
  for _, place in ipairs(expected.places) do
    if place ~= (doc.place or false) then
      local key = redis_keys.queue(q, states.index(place))
      cache.zset(key, id, false)
      cache.zset(key, doc.sequence .. ':' .. id, false)
    end
  end
  kinds.drop(q, id, (kinds.of(doc)))
  if doc.place == PLACE.failed then kinds.put_back(id, doc) end
  if doc.place == PLACE.timers or (doc.place == PLACE.limited and not doc.waiting_limit) then
    return queueing.enqueue(id, doc, doc.wanted_early)
  end
  local moment = moments[doc.place] and moments[doc.place](id, doc)
  if states.resting[doc.place] and doc.place ~= PLACE.suspended then moment = expiry.of(id, doc, doc.place) end
  local turn, tier = turns.turn_at(doc, doc.waiting_limit or '')
  places.put(id, doc, moment or (turn and tonumber(tier)) or nil)
  if doc.place == PLACE.limited then limits.touch(doc.waiting_limit) end
end

-- A damaged limit applies to no job, and jobs that wait for this limit continue.
local function mend_limit_record(key)
  if not readable.damaged[redis_keys.limit(key)] then return end
  cache.del(redis_keys.limit(key))
  if limits.count_in_line(key) == 0 then cache.sset(ns .. 'limits', key, false) end
  limits.touch(key)
end

local function drop_entries(q, place)
  local index = states.index(place)
  local key = redis_keys.queue(q, index)
  local members, packed = redis.call('ZRANGE', key, 0, 999), 0
  cache.fetch_jobs(members)
  for _, member in ipairs(members) do
    local piece, number = cache.piece_at(member)
    local is_there = piece and piece.n > 0 and pieces.entry(number, piece) == member
    if not number then is_there = cache.find(member:match('%d+$') or '') end
    if not is_there then redis.call('ZREM', key, member) elseif piece then packed = packed + piece.n - 1 end
  end
  for _, id in ipairs(tally.in_document(q, index)) do
    local doc = cache.find(id)
    if not doc or doc.place ~= place then cache.zset(key, id, false) end
  end
  if #members == 1000 then return end
  cache.count_packed(q, index, packed - select(2, tally.known(cache.queue(q), index)))
end

function mend.queue(q)
  for _, class in ipairs(expected.lost_classes(q)) do cache.hset(ns .. 'workers:' .. q, class, false) end
  for place in pairs(redis_keys.letters) do drop_other_type(redis_keys.queue(q, place), 'zset') end
  for _, lane in ipairs(expected.endless_lanes(q)) do lanes.set(q, lane, nil) end
  for _, place in ipairs(expected.places) do drop_entries(q, place) end
  for place, field in pairs(cache.first_times) do
    cache.soonest(q, field, cache.first_moment(q, place))
  end
  for _, till in pairs(cache.queue(q).leased or {}) do cache.soonest(q, queue_fields.next_lease, till) end
  kinds.drop_strays(q)
  tally.look_at_all(q)
  cache.change_queue(q, queue_fields.wake_at, nil)
  cache.sset(ns .. 'queues', q, true)
  local ready = tally.count(q, 'ready')
  if ready > 0 then lanes.ring(q, ready) end
end

function mend.limit(key)
  if not limits.of(key) then return mend_limit_record(key) end
  local held = redis_keys.limit(key, 'held')
  for _, id in ipairs(redis.call('ZRANGE', held, 0, 999)) do
    if not expected.holds_slot(id, key) then redis.call('ZREM', held, id) end
  end
  limits.save(key, limit_fields.waiting, limits.count_in_line(key))
  limits.touch(key)
end

function mend.alias(alias)
  local id = aliases.owner(alias)
  if not expected.has_alias(id, alias) then aliases.set_owner(alias, false) end
end

function mend.schedule(id)
  if not expected.repeats(id) then cache.zset(ns .. 'repeats', id, false) end
end

-- Unreadable args become `^`, as if they had their own key. `mend.values` finds no such key, and the job fails.
function mend.piece(number)
  local piece = whereabouts.piece(number)
  if not piece or not cache.common_of(piece) then return end
  local found = readable.decode(piece.args, '') or {}
  local own = readable.decode(piece.own or '{}', '') or {}
  cache.place_piece(number, piece, nil)
  for _, id in ipairs(pieces.ids(number, piece)) do
    local _, at = pieces.place_of(id)
    local args = type(found[at]) == 'string' and found[at] or '^'
    local doc = cjson.decode(pieces.text_with(piece, id, at, args))
    for field, list in pairs(own) do
      if type(list) == 'table' and type(list[at]) == 'string' then doc[field] = list[at] end
    end
    journal.put(cache.docs, id, doc)
    journal.put(cache.raw, redis_keys.job(id), cjson.encode(doc))
    mend.job(id)
  end
  journal.put(cache.pieces, number, false)
  cache.del(redis_keys.piece(number))
  salvage.forget('jobs:' .. number)
end

local mend_data = {}

mend_data['jobs:last_id'] = function()
  local last = expected.last_id()
  for _, q in ipairs(redis.call('SMEMBERS', ns .. 'queues')) do
    for place in pairs(redis_keys.letters) do
      for _, member in ipairs(redis.call('ZRANGE', redis_keys.queue(q, place), 0, 999)) do
        local number, id = pieces.number_in(member), tonumber((member:match('%d+$'))) or 0
        if number then id = tonumber(number) * pieces.SIZE + pieces.SIZE - 1 end
        local key = number and redis_keys.piece(number) or redis_keys.job(numbers.int(id))
        if id > last and redis.call('EXISTS', key) == 1 then last = id end
      end
    end
  end
  ids.keep(last)
end

function mend_data.hints()
  hints.set { system = expected.system_listeners(), version = hints.stored_version() }
  salvage.forget('hints')
end

-- Because of the new version, claims assign the limits of all waiting jobs again.
function mend_data.constraints()
  local kept, stored = expected.constraints()
  local _, _, known = hints.known()
  local version = numbers.int((stored or tonumber(known) or 0) + 1)
  cache.set_text(ns .. 'constraints', cjson.encode({ version = version, list = kept }))
  hints.set { version = version }
end

function mend.data(name)
  if mend_data[name] then return mend_data[name]() end
  if name:find('^job:%d+:') or name:find('^unique:') then redis.call('DEL', ns .. name) end
end

function mend.unreadable(name) salvage.forget(name) end

function mend.erase(job) salvage.erase(aliases.resolve(job)) end

function mend.result(id, doc)
  local key = ns .. 'result:' .. id
  local left = redis.call('PTTL', key)
  local text = left == -1 and cache.text_at(key) or ''
  local kept_for = (tonumber((text:match('^%a+\n%d+ (%d+)'))) or 0) - time.now
  if left == -1 and kept_for > 0 then
    redis.call('PEXPIRE', key, numbers.int(kept_for))
  elseif left < 0 then
    results.drop(id, doc)
  end
end

-- A job with too little data for a repair is in no index, and waits for an operator.
local function mend_record(id)
  local text = cache.text_at(redis_keys.job(id))
  if not text then return end
  local doc = salvage.document(id, text)
  if not doc then return salvage.leave_indexes(id, (salvage.fields_in(text))) end
  journal.put(cache.docs, id, doc)
  salvage.forget('job:' .. id)
end

function mend.shape(id, doc)
  for field, why in pairs(shape.faults_of(doc)) do
    if field == fields.sequence then
      cache.change(id, doc, field, time.sequence())
    elseif why ~= 'is not a count' then
      cache.change(id, doc, field, nil)
    end
  end
  if doc.next_slot and not doc.repeats then cache.change(id, doc, fields.next_slot, nil) end
end

function mend.job(id)
  for name, wanted in pairs(salvage.side_types) do drop_other_type(redis_keys.side(id, name), wanted) end
  if not cache.find(id) then mend_record(id) end
  local doc = cache.docs[id] or cache.find(id)
  if not doc then return end
  mend.shape(id, doc)
  for _, step in ipairs({ 'values', 'ports', 'history', 'names', 'listening', 'wires', 'run', 'place' }) do
    if not doc.gone then mend[step](id, doc) end
  end
  if doc.gone then return end
  mend.result(id, doc)
  mend.family(id, doc)
  journal.put(cache.dirty, id, true)
  cache.change_queue(doc.queue, queue_fields.wake_at, nil)
  cache.sset(ns .. 'queues', doc.queue, true)
end

-- After a DEL, a full Redis accepts all commands of a script.
redis.call('DEL', ns .. 'room')
for _ = 1, args.take_int() do
  local kind, name = args.take(), args.take()
  mend[kind](name)
end
bells.ring_all()
work.flush()
return reply.repaired { rings = bells.rings }
