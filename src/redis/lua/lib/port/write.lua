-- Calls itself at most 20 levels deep: values for a wired port are queued while another value is being delivered, and
-- input ports have no channels.

local MAX_WAITING = 100000

local function check_room(id, dir, port, waiting, more)
  if waiting + more <= MAX_WAITING then return end
  journal.refuse('LIMITED',
    redis_keys.direction[dir] .. 'put port "' .. port .. '" of job ' .. id .. ' holds ' .. numbers.int(waiting)
    .. ' values: expected at most ' .. MAX_WAITING .. '. Read some first')
end

write.heard = {}

-- Values × channels, counted even without listeners, so that adding a listener cannot fail a run.
write.said = { messages = 0, names = 0 }
local MAX_PUBLISHED, MAX_NAMES = 10000, 10000

local function charge_one(what, most, words, n)
  journal.put(write.said, what, write.said[what] + n)
  if write.said[what] > most then
    journal.refuse('TOO_LARGE',
      'expected at most ' .. most .. ' ' .. words .. ' in one call or run, got ' .. numbers.int(write.said[what]))
  end
  journal.puts = journal.puts + n
end

function write.charge(channels, n)
  charge_one('messages', MAX_PUBLISHED, 'messages (values times channels)', #channels * n)
  for _, channel in ipairs(channels) do
    charge_one('names', MAX_NAMES, 'parts of channel names', #hints.levels(channel))
  end
end

-- `options`: quiet (wakes no job), default (sets the default), unnoted (adds nothing to a log entry).
function write.items(id, doc, dir, port, items, options)
  local pushed, taken = ports.open(id, doc, dir, port)
  if options.default then
    values.set_value(id, doc, 'd' .. dir .. ':' .. port, items[#items])
    values.check(id, doc)
  else
    local bytes = tables.bytes(items)
    check_room(id, dir, port, pushed - taken, #items)
    values.check(id, doc, bytes)
    values.note(id, bytes)
    lists.push(lists.of(id, doc, dir, port, pushed - taken), items)
    ports.set_counts(id, doc, dir, port, pushed + #items, taken)
  end
  if not options.unnoted then log.note('write', id, dir, port, items) end
  if dir == 'o' then
    local channels = audience.channels_of(id, doc, dir, port)
    if #channels > 0 then write.charge(channels, #items) end
    for _, channel in ipairs(channels) do write.publish(channel, items) end
  end
  write.set_off(id, doc, dir, port, options)
end

local MAX_MOVE = 5000
local MAX_COPIED = 8388608

local function check_copies(id, dir, port, what, bytes, n)
  if bytes * n > MAX_COPIED then
    journal.refuse('TOO_LARGE',
      redis_keys.direction[dir] .. 'put port "' .. port .. '" of job ' .. id .. ': expected at most ' .. MAX_COPIED
      .. ' bytes of copies for all its targets, got ' .. what .. ' of ' .. numbers.int(bytes) .. ' bytes for '
      .. numbers.int(n))
  end
end

local function copied_at_once(id, doc, dir, port, waiting, n)
  local most, bytes = math.min(waiting, math.max(1, math.floor(MAX_MOVE / n))), 0
  for i, item in ipairs(lists.items(lists.of(id, doc, dir, port, waiting), most)) do
    bytes = bytes + #item
    if bytes * n > MAX_COPIED and i > 1 then return i - 1 end
    check_copies(id, dir, port, 'a value', #item, n)
  end
  return most
end

function write.connect(id, doc, dir, port, targets, options)
  local pushed, taken = ports.open(id, doc, dir, port)
  local items, n = {}, #targets
  if pushed > taken then
    items = ports.take(id, doc, dir, port, copied_at_once(id, doc, dir, port, pushed - taken, math.max(1, n)))
  end
  if options and options.arriving and items[1] then
    items = envelope.stamped(items, numbers.int(math.floor(time.now / 1000)))
    wires.keep(id, doc, dir, port, items)
  end
  local default = values.get_value(id, doc, 'd' .. dir .. ':' .. port)
  if default then check_copies(id, dir, port, 'a default', #default, n) end
  for _, to in ipairs(targets) do
    local field = 'd' .. to.dir .. ':' .. to.port
    ports.open(to.id, to.doc, to.dir, to.port)
    local changed = default and values.get_value(to.id, to.doc, field) ~= default
    if changed then
      values.set_value(to.id, to.doc, field, default)
      values.check(to.id, to.doc)
    end
    if #items > 0 then
      write.items(to.id, to.doc, to.dir, to.port, items, options or {})
    elseif changed then
      write.set_off(to.id, to.doc, to.dir, to.port)
    end
  end
  return #items
end

local function send_on(id, doc, dir, port, options)
  local ends = wires.ends_of(id, doc, dir, port)
  if ends then
    if wires.holds(id, doc, dir, port) then
      wires.watch(id, doc, dir, port)
      for _, to in ipairs(ends) do wires.watch(to.id, to.doc, to.dir, to.port) end
    end
    write.connect(id, doc, dir, port, ends, { quiet = options.quiet, arriving = true })
    if not wires.holds(id, doc, dir, port) then return end
  end
  local owner = dir == 'i' and id or doc.parent
  local owner_doc = owner and cache.find(owner)
  if owner_doc then queueing.wake(owner, owner_doc, 'own') end
end

-- Not recursive, because some Lua engines allow fewer calls than a path of 80 hops needs.
local passing = {}

function write.pass(id, doc, dir, port, options)
  local line = passing.line
  local waiting = line and line[id .. dir .. port]
  if waiting then return journal.put(waiting, fields.quiet, waiting.quiet and options.quiet) end
  local hop = { id = id, doc = doc, dir = dir, port = port, quiet = options.quiet }
  if line then
    journal.put(line, id .. dir .. port, hop)
    return journal.push(line, hop)
  end
  line = { hop }
  journal.put(passing, 'line', line)
  local at_hop = 1
  while line[at_hop] do
    local next_hop = line[at_hop]
    journal.put(line, next_hop.id .. next_hop.dir .. next_hop.port, nil)
    send_on(next_hop.id, next_hop.doc, next_hop.dir, next_hop.port, next_hop)
    at_hop = at_hop + 1
  end
  journal.put(passing, 'line', nil)
end

function write.set_off(id, doc, dir, port, options)
  if doc['w' .. dir .. ':' .. port] then return write.pass(id, doc, dir, port, options or {}) end
  if options and options.quiet then return end
  if dir == 'i' then queueing.wake(id, doc, 'own') else queueing.wake_parent(id, doc) end
end

-- If a message has more receivers than this, the relay of the channel delivers it. To keep the order, later messages
-- take the same way while the relay has any.
write.MAX_DIRECT = 500
write.budget = 1000
write.bytes_left = 8388608

local function deliver(channel, member, items)
  local id, port = member:match('^(%d+):(.*)$')
  local doc = cache.find(id)
  local pushed, taken, dropped
  if doc then pushed, taken, dropped = ports.counts(doc, 'i', port) end
  if not pushed or dropped or not tables.has(audience.channels_of(id, doc, 'i', port), channel) then
    audience.member_change(channel, member, false)
    return 0
  end
  if pushed - taken + #items > MAX_WAITING or not values.has_room(id, doc, tables.bytes(items)) then return 0 end
  write.items(id, doc, 'i', port, items, {})
  return #items
end

function write.listeners(channel, behind, most)
  return redis.call('ZRANGEBYLEX', ns .. 'channel:' .. channel, behind and '(' .. behind or '-', '+', 'LIMIT', 0, most)
end

function write.deliver_all(channel, members, items)
  local ids, reached = {}, 0
  for i, member in ipairs(members) do ids[i] = member:match('^%d+') end
  cache.fetch_jobs(ids)
  for _, member in ipairs(members) do reached = reached + deliver(channel, member, items) end
  write.budget = write.budget - #members * #items
  write.bytes_left = write.bytes_left - #members * tables.bytes(items)
  return reached
end

local function everyone(channel)
  local n, relay, listed = audience.of(channel)
  if listed then return listed end
  local members, pending, old = write.listeners(channel, nil, write.MAX_DIRECT),
    cache.writes.zsets[ns .. 'channel:' .. channel], {}
  if not pending then
    if #members == n then audience.list(channel, n, relay, members) end
    return members
  end
  for _, member in ipairs(members) do old[member] = true end
  for member, score in pairs(pending) do
    if score and not old[member] then members[#members + 1] = member end
  end
  return members
end

local function has_left(relay)
  local pushed, taken = ports.counts(cache.find(relay) or {}, 'i', 'in')
  return pushed and pushed > taken
end

local MAX_LIVE = 5000

local function tell_live(channel, item, all)
  if #cache.writes.messages > MAX_LIVE then return end
  local _, _, _, value = envelope.parts(item)
  local text = channel .. '\t' .. value:gsub('[\r\n]', ' ')
  for _, level in ipairs(all) do journal.push(cache.writes.messages, { ns .. 'live:' .. level, text }) end
end

-- A subscriber without room for a message misses it. The publisher is never affected.
function write.publish(channel, items)
  local all, reached, marked = hints.levels(channel), 0, nil
  local asked = {}
  audience.foresee(channel, asked)
  cache.fetch(asked)
  for _, level in ipairs(all) do
    local n, relayed_by = audience.of(level)
    if n > 0 and not marked then
      marked = {}
      for i, item in ipairs(items) do marked[i] = envelope.with_channel(item, channel) end
    end
    if n > 0 and (n > write.MAX_DIRECT or n * #items > write.budget or n * tables.bytes(items) > write.bytes_left
      or (relayed_by and has_left(relayed_by))) then
      write.hand_over(level, relayed_by, marked or items)
      reached = reached + n
    elseif n > 0 then
      local members = everyone(level)
      reached = reached + write.deliver_all(level, members, marked)
      if #members <= audience.FEW then
        for _, member in ipairs(members) do write.heard[#write.heard + 1] = member:match('^%d+') end
      end
    end
  end
  local heard_at = hints.heard_at(all)
  if #heard_at > 0 then
    for _, item in ipairs(items) do tell_live(channel, item, heard_at) end
  end
  return reached
end

function write.tell_all()
  while #hints.told > 0 do
    local batch = hints.told
    hints.told = {}
    for _, e in ipairs(batch) do write.publish(e[1], { e[2] }) end
  end
end

local stopped_by = { fields.failures, fields.lost_in_a_row, fields.backoff_until, fields.ended_at, fields.terminating }

function write.hand_over(channel, id, items)
  local doc = id and cache.find(id)
  if doc then
    write.items(id, doc, 'i', 'in', items, { unnoted = true })
    if doc.place ~= PLACE.failed and doc.place ~= PLACE.terminated then return end
    cache.clear(id, doc, stopped_by)
    return queueing.enqueue(id, doc, true)
  end
  id = ids.next_id()
  doc = { queue = 'sidejob.relay', class = 'relay', place = PLACE.new, sequence = time.sequence(),
    args = cjson.encode(channel), quiet = '1', relay_channel = channel, ['i:in'] = '0,0' }
  journal.put(cache.docs, id, doc)
  journal.put(cache.dirty, id, true)
  audience.set_relay(channel, id)
  counts.add(doc.queue, doc.class, 'made')
  write.items(id, doc, 'i', 'in', items, { quiet = true, unnoted = true })
  queueing.enqueue(id, doc)
end
