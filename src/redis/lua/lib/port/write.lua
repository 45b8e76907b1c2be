-- The recursion is at most 20 levels deep: a delivery never starts another delivery. Values for wired ports are queued,
-- and values at input ports are not published.

local MAX_WAITING = 100000

local function check_room(port, waiting, more)
  if waiting + more <= MAX_WAITING then return end
  journal.refuse('LIMITED',
    ports.title(port) .. ' of job ' .. port.id .. ' holds ' .. waiting .. ' values: expected at most '
    .. MAX_WAITING .. '. Read some first')
end

write.receivers = {}

-- Messages count even without listeners, so that a new listener cannot fail a run.
write.said = { messages = 0, names = 0 }
local MAX_PUBLISHED, MAX_NAMES = 10000, 10000

local function charge_one(what, most, words, n)
  journal.put(write.said, what, write.said[what] + n)
  if write.said[what] > most then
    journal.refuse('TOO_LARGE',
      'expected at most ' .. most .. ' ' .. words .. ' in one call or run, got ' .. write.said[what])
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
function write.items(port, items, options)
  local pushed, taken = ports.open(port)
  if options.default then
    ports.set_default(port, items[#items])
    values.check(port.id, port.doc)
  else
    local bytes = tables.bytes(items)
    check_room(port, pushed - taken, #items)
    values.check(port.id, port.doc, bytes)
    values.note(port.id, bytes)
    lists.push(lists.of(port, pushed - taken), items)
    ports.set_counts(port, pushed + #items, taken)
  end
  if not options.unnoted then log.note('write', port, items) end
  if port.dir == 'o' then
    local channels = audience.channels_of(port)
    if #channels > 0 then write.charge(channels, #items) end
    for _, channel in ipairs(channels) do write.publish(channel, items) end
  end
  write.set_off(port, options.quiet)
end

local MAX_MOVE = 5000
local MAX_COPIED = 8388608

local function check_copies(port, what, bytes, n)
  if bytes * n > MAX_COPIED then
    journal.refuse('TOO_LARGE',
      ports.title(port) .. ' of job ' .. port.id .. ': expected at most ' .. MAX_COPIED
      .. ' bytes of copies for all its targets, got ' .. what .. ' of ' .. bytes .. ' bytes for '
      .. n .. ' targets')
  end
end

local function copied_at_once(port, waiting, n)
  local most, bytes = math.min(waiting, math.max(1, math.floor(MAX_MOVE / n))), 0
  for i, item in ipairs(lists.items(lists.of(port, waiting), most)) do
    bytes = bytes + #item
    if bytes * n > MAX_COPIED and i > 1 then return i - 1 end
    check_copies(port, 'a value', #item, n)
  end
  return most
end

function write.connect(port, targets, options)
  local pushed, taken = ports.open(port)
  local items, n = {}, #targets
  if pushed > taken then items = ports.take(port, copied_at_once(port, pushed - taken, math.max(1, n))) end
  if options.arriving and items[1] then
    items = envelope.stamped(items, math.floor(time.now / 1000))
    wires.keep(port, items)
  end
  local default = ports.default(port)
  if default then check_copies(port, 'a default', #default, n) end
  for _, to in ipairs(targets) do
    ports.open(to)
    local changed = default and ports.default(to) ~= default
    if changed then
      ports.set_default(to, default)
      values.check(to.id, to.doc)
    end
    if #items > 0 then
      write.items(to, items, options)
    elseif changed then
      write.set_off(to)
    end
  end
  return #items
end

local function send_on(port, is_quiet)
  local ends = wires.ends_of(port)
  if ends then
    if wires.holds(port) then
      wires.watch(port)
      for _, to in ipairs(ends) do wires.watch(to) end
    end
    write.connect(port, ends, { quiet = is_quiet, arriving = true })
    if not wires.holds(port) then return end
  end
  local owner = port.dir == 'i' and port.id or port.doc.parent
  local owner_doc = owner and cache.find(owner)
  if owner_doc then queueing.wake(owner, owner_doc, 'own') end
end

-- This is a loop, because a path may have 80 hops, and some Lua engines do not allow 80 nested calls.
local passing = {}

function write.pass(port, is_quiet)
  local line, name = passing.line, port.id .. port.field
  local waiting = line and line[name]
  if waiting then return journal.put(waiting, fields.quiet, waiting.quiet and is_quiet) end
  local hop = { port = port, name = name, quiet = is_quiet }
  if line then
    journal.put(line, name, hop)
    return journal.push(line, hop)
  end
  line = { hop }
  journal.put(passing, 'line', line)
  local at_hop = 1
  while line[at_hop] do
    local next_hop = line[at_hop]
    journal.put(line, next_hop.name, nil)
    send_on(next_hop.port, next_hop.quiet)
    at_hop = at_hop + 1
  end
  journal.put(passing, 'line', nil)
end

function write.set_off(port, is_quiet)
  if port.doc['w' .. port.field] then return write.pass(port, is_quiet) end
  if is_quiet then return end
  if port.dir == 'i' then queueing.wake(port.id, port.doc, 'own') else queueing.wake_parent(port.id, port.doc) end
end

-- If a message has more receivers than this, the relay job of the channel delivers it. While the relay has messages, it
-- also delivers all later messages of the channel, so that their order stays the same.
write.MAX_DIRECT = 500
write.budget = 1000
write.bytes_left = 8388608

local function deliver(channel, member, items)
  local id, name = member:match('^(%d+):(.*)$')
  local doc = cache.find(id)
  local port = doc and port_refs.at(id, doc, 'i', name)
  local pushed, taken, dropped
  if port then pushed, taken, dropped = ports.counts(port) end
  if not pushed or dropped or not tables.has(audience.channels_of(port), channel) then
    audience.member_change(channel, member, false)
    return 0
  end
  if pushed - taken + #items > MAX_WAITING or not values.has_room(id, doc, tables.bytes(items)) then return 0 end
  write.items(port, items, {})
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
  local members = write.listeners(channel, nil, write.MAX_DIRECT)
  local pending = cache.writes.zsets[ns .. 'channel:' .. channel]
  if not pending then
    if #members == n then audience.list(channel, n, relay, members) end
    return members
  end
  local old = tables.set_of(members)
  for member, score in pairs(pending) do
    if score and not old[member] then members[#members + 1] = member end
  end
  return members
end

local function has_left(relay)
  local pushed, taken = ports.counts(port_refs.at(relay, cache.find(relay) or {}, 'i', 'in'))
  return pushed and pushed > taken
end

local MAX_LIVE = 5000

local function tell_live(channel, item, all)
  if #cache.writes.messages > MAX_LIVE then return end
  local _, _, _, value = envelope.parts(item)
  local text = channel .. '\t' .. value:gsub('[\r\n]', ' ')
  for _, level in ipairs(all) do cache.publish('live:' .. level, text) end
end

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
      write.hand_over(level, relayed_by, marked)
      reached = reached + n
    elseif n > 0 then
      local members = everyone(level)
      reached = reached + write.deliver_all(level, members, marked)
      if #members <= audience.FEW then
        for _, member in ipairs(members) do write.receivers[#write.receivers + 1] = member:match('^%d+') end
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
  while #hints.messages > 0 do
    local batch = hints.messages
    hints.messages = {}
    for _, e in ipairs(batch) do write.publish(e[1], { e[2] }) end
  end
end

function write.hand_over(channel, id, items)
  local doc = id and cache.find(id)
  if doc then
    write.items(port_refs.at(id, doc, 'i', 'in'), items, { unnoted = true })
    if doc.place ~= PLACE.failed and doc.place ~= PLACE.terminated then return end
    cache.change(id, doc, fields.terminating, nil)
    return queueing.resume(id, doc)
  end
  doc = { queue = 'sidejob.relay', class = 'relay', args = cjson.encode(channel), quiet = '1',
    relay_channel = channel, ['i:in'] = '0,0' }
  id = internal.make(doc)
  audience.set_relay(channel, id)
  write.items(port_refs.at(id, doc, 'i', 'in'), items, { quiet = true, unnoted = true })
  queueing.enqueue(id, doc)
end
