-- Ports and channels: what is pushed, taken, counted, published. A value travels as an item, closed:
-- `=value`, or `@context\nchannel\nflags\nvalue`.

local function parts(item)
  if item:sub(1, 1) == '=' then return '', '', '', item:sub(2) end
  return item:match('^@([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
end
local function with_channel(item, channel)
  local context, from, flags, value = parts(item)
  return '@' .. context .. '\n' .. (from ~= '' and from or channel) .. '\n' .. flags .. '\n' .. value
end

-- How many values were ever pushed to and taken from a port; nil when there is no such port.
local function counts(doc, dir, port)
  local record = doc[dir .. ':' .. port]
  if not record then return nil, nil, nil end
  local pushed, taken, dropped = record:match('^(%d+),(%d+)(,?d?)$')
  return tonumber(pushed), tonumber(taken), dropped ~= ''
end
local function set_counts(id, doc, dir, port, pushed, taken)
  local field = dir .. ':' .. port
  if not doc[field] then put(attached, id, nil) end
  change(id, doc, field, int(pushed) .. ',' .. int(taken))
end

local function declare(id, doc, dir, port)
  local pushed, taken = counts(doc, dir, port)
  holding.admit(id, doc, dir .. ':' .. port)
  set_counts(id, doc, dir, port, pushed or 0, taken or 0)
end

-- The counts of a port that can be used: declared, or made on the fly where `*` is.
local function open_port(id, doc, dir, port)
  local pushed, taken, dropped = counts(doc, dir, port)
  if pushed and not dropped and port ~= '*' then return pushed, taken end
  if not doc[dir .. ':*'] or counts(doc, dir, '*') == nil then
    refuse('REFUSED', 'job ' .. id .. ' (' .. doc.class .. ') does not have ' .. sides[dir] .. ' port ' .. port)
  end
  if #port > 100 or not port:match('^[%w_]+$') then
    refuse('REFUSED', 'expected a port name (a-z, A-Z, 0-9 and _, at most 100 long), got ' .. port)
  end
  declare(id, doc, dir, port)
  set_value(id, doc, 'd' .. dir .. ':' .. port, get_value(id, doc, 'd' .. dir .. ':*'))
  return pushed or 0, taken or 0
end

local function drop_values(id, doc, dir, port)
  local pushed, taken = counts(doc, dir, port)
  if pushed > taken then lists.pop(lists.of(id, doc, dir, port, pushed - taken), pushed - taken) end
  return pushed
end

-- Channels -----------------------------------------------------------------------------------------------------------

-- '/a/b' → '/a/b', '/a', '/'; a channel without a leading slash never reaches '/'.
local function levels(channel)
  local all = { channel }
  while true do
    local up = channel:gsub('/+$', ''):match('^(.*)/[^/]*$')
    if not up then return all end
    if up == '' then
      if channel ~= '/' then all[#all + 1] = '/' end
      return all
    end
    all[#all + 1] = up
    channel = up
  end
end

local hints_key = ns .. 'hints'
-- What every script should know and hardly ever needs: how many listen to system channels, until when somebody outside
-- listens, and the version of the constraints ('' when there never were any).
local hints_text, hints_system, hints_till, hints_version
local function hints()
  local text = text_at(hints_key) or '0,0,'
  if text ~= hints_text then
    local n, till, version = text:match('^(%d+),(%d+),(%d*)$')
    hints_text, hints_version = text, version
    hints_system = tonumber(n)
    hints_till = tonumber(till)
  end
  return hints_system, hints_till, hints_version
end
local function set_hints(system, till, version) set_text(hints_key, int(system) .. ',' .. int(till) .. ',' .. version) end
local function hints_wanted()
  local system, till = hints()
  return system > 0 or till > now
end
local function is_system(channel) return channel == '/' or channel:sub(1, 8) == '/sidejob' end

-- `hand_over` is set by create: gives a message to the channel's relay. `heard`: jobs that got one, of channels with few.
local relays = { heard = {} }

-- Who listens to a channel is one text, read with everything else: how many ports, the job that relays what is said
-- there where there is one, and the ports themselves as long as they are few: `2,7 12:in 15:in`.
local FEW = 8
local function audience_key(channel) return ns .. 'audience:' .. channel end

-- How many ports listen, the relay, and the list of the ports, nil where they are too many for it.
function relays.audience(channel)
  local n, relay, named = (text_at(audience_key(channel)) or '0'):match('^(%d+),?(%d*)(.*)$')
  local listed = {}
  for member in named:gmatch('%S+') do listed[#listed + 1] = member end
  return tonumber(n), relay ~= '' and relay or nil, #listed == tonumber(n) and listed or nil
end
local function head_of_audience(n, relay) return (n > 0 or relay) and int(n) .. (relay and ',' .. relay or '') or false end
function relays.list(channel, n, relay, listed)
  local head = head_of_audience(n, relay)
  replace_text(audience_key(channel), head and (listed and #listed <= FEW and table.concat({ head, unpack(listed, 1, FEW) }, ' ') or head))
end
local function set_audience(channel, n, relay, listed)
  hset(ns .. 'channels', channel, head_of_audience(n, relay))
  relays.list(channel, n, relay, listed)
end
function relays.set_relay(channel, relay)
  local n, _, listed = relays.audience(channel)
  set_audience(channel, n, relay, listed)
end

-- Adds what tells who hears a message to the keys that are to be read.
function relays.foresee(channel, asked)
  for _, level in ipairs(levels(channel)) do asked[#asked + 1] = audience_key(level) end
end

local function without(list, item)
  local rest = {}
  for _, v in ipairs(list) do
    if v ~= item then rest[#rest + 1] = v end
  end
  return rest
end
local function member_change(channel, member, present)
  local key, score = ns .. 'channel:' .. channel, present and 0
  local pending = writes.zsets[key]
  if pending and pending[member] == score then return end
  local n, relay, listed = relays.audience(channel)
  if listed then listed = without(listed, member) end
  if listed and present then listed[#listed + 1] = member end
  set_audience(channel, n + (present and 1 or -1), relay, listed)
  zset(key, member, score)
  if is_system(channel) then
    local system, till, version = hints()
    set_hints(system + (present and 1 or -1), till, version)
  end
end

local function channels_of(id, doc, dir, port)
  local text = get_value(id, doc, 'c' .. dir .. ':' .. port)
  return text and cjson.decode(text) or {}
end
local function has(list, item)
  for _, v in ipairs(list) do
    if v == item then return true end
  end
  return false
end

local function set_channels(id, doc, dir, port, channels)
  if #channels > 0 and port == '*' then refuse('REFUSED', 'port * cannot have channels') end
  if dir == 'i' then
    local old, member = channels_of(id, doc, dir, port), id .. ':' .. port
    for _, c in ipairs(old) do
      if not has(channels, c) then member_change(c, member, false) end
    end
    for i, c in ipairs(channels) do
      if not has(old, c) and not has(lists.slice(channels, 1, i - 1), c) then member_change(c, member, true) end
    end
  end
  set_value(id, doc, 'c' .. dir .. ':' .. port, #channels > 0 and cjson.encode(channels) or nil)
end

-- Writing and taking -------------------------------------------------------------------------------------------------

local publish, pass

-- How much may wait at one port: who writes more is refused, and who only listens misses it.
local MAX_WAITING = 100000
function lists.check_room(id, dir, port, waiting, more)
  if waiting + more <= MAX_WAITING then return end
  refuse('LIMITED', sides[dir] .. ' port ' .. port .. ' of job ' .. id .. ' holds ' .. int(waiting) .. ' values: expected at most ' .. MAX_WAITING .. ', read some first')
end

-- How much one call or run may publish, in messages: values times channels. Counted whoever listens, so that nobody's
-- listening makes it fail. Runs behind it are left for the next script.
relays.published = 0
local MAX_PUBLISHED = 10000
function relays.charge(n)
  put(relays, 'published', relays.published + n)
  if relays.published > MAX_PUBLISHED then
    refuse('TOO_LARGE', 'expected at most ' .. MAX_PUBLISHED .. ' messages, values times channels, of one call or run, got ' .. int(relays.published))
  end
  work.puts = work.puts + n
end

-- options: quiet (wake nobody), default (set the default instead of pushing), unnoted (no part of any log entry)
local function write(id, doc, dir, port, items, options)
  local pushed, taken = open_port(id, doc, dir, port)
  if options.default then
    set_value(id, doc, 'd' .. dir .. ':' .. port, items[#items])
    holding.check(id, doc)
  else
    local bytes = lists.bytes(items)
    lists.check_room(id, dir, port, pushed - taken, #items)
    holding.check(id, doc, bytes)
    holding.note(id, bytes)
    lists.push(lists.of(id, doc, dir, port, pushed - taken), items)
    set_counts(id, doc, dir, port, pushed + #items, taken)
  end
  if not options.unnoted then entries.note('write', id, dir, port, items) end
  if dir == 'o' then
    local channels = channels_of(id, doc, dir, port)
    if #channels > 0 then relays.charge(#channels * #items) end
    for _, channel in ipairs(channels) do publish(channel, items) end
  end
  if doc['w' .. dir .. ':' .. port] then return pass(id, doc, dir, port, options) end
  if options.quiet then return end
  if dir == 'i' then wake(id, doc, 'own') else wake_parent(id, doc) end
end

-- Up to n values off the front; the default when there are none. Answers the items and whether they are the default.
local function take_items(id, doc, dir, port, n)
  local pushed, taken = open_port(id, doc, dir, port)
  if pushed == taken then
    local default = get_value(id, doc, 'd' .. dir .. ':' .. port)
    if default then entries.note('read', id, dir, port, { default }) end
    return default and { default } or {}, default ~= nil
  end
  local list = lists.of(id, doc, dir, port, pushed - taken)
  local items = lists.items(list, n)
  entries.note('read', id, dir, port, items)
  lists.pop(list, #items)
  set_counts(id, doc, dir, port, pushed, taken + #items)
  return items, false
end

-- Reads happened against a snapshot: they count only if nobody took from that port since.
local function consume(id, doc, dir, port, cursor, n)
  local pushed, taken = open_port(id, doc, dir, port)
  if taken ~= cursor then refuse('CONFLICT', sides[dir] .. ' port ' .. port .. ' of job ' .. id .. ': seen at ' .. int(cursor) .. ', now at ' .. int(taken)) end
  if n > pushed - taken then refuse('CONFLICT', sides[dir] .. ' port ' .. port .. ' of job ' .. id .. ' has no ' .. int(n) .. ' values') end
  if n == 0 then return end
  local list = lists.of(id, doc, dir, port, pushed - taken)
  if hints_wanted() then entries.note('read', id, dir, port, lists.items(list, n)) end
  lists.pop(list, n)
  set_counts(id, doc, dir, port, pushed, taken + n)
end

local MAX_MOVE = 10000

local MAX_COPIED = 8388608
local function check_copies(id, dir, port, what, bytes, n)
  if bytes * n > MAX_COPIED then
    refuse('TOO_LARGE', sides[dir] .. ' port ' .. port .. ' of job ' .. id .. ': expected at most ' .. MAX_COPIED .. ' bytes, copied to all its targets, got ' .. what .. ' of ' .. int(bytes) .. ' bytes for ' .. int(n))
  end
end

-- How many values may go to so many targets at once: each is copied for each of them.
local function copied_at_once(id, doc, dir, port, waiting, n)
  local most, bytes = math.min(waiting, math.max(1, math.floor(MAX_MOVE / n))), 0
  for i, item in ipairs(lists.items(lists.of(id, doc, dir, port, waiting), most)) do
    bytes = bytes + #item
    if bytes * n > MAX_COPIED and i > 1 then return i - 1 end
    check_copies(id, dir, port, 'a value', #item, n)
  end
  return most
end

-- Moves the values of a port, and copies its default, to every target; at most so many at once, the rest stays.
local function connect(id, doc, dir, port, targets, options)
  local pushed, taken = open_port(id, doc, dir, port)
  local items, n = {}, #targets
  if pushed > taken then
    items = take_items(id, doc, dir, port, copied_at_once(id, doc, dir, port, pushed - taken, math.max(1, n)))
  end
  local default = get_value(id, doc, 'd' .. dir .. ':' .. port)
  if default then check_copies(id, dir, port, 'a default', #default, n) end
  for _, to in ipairs(targets) do
    local field = 'd' .. to.dir .. ':' .. to.port
    open_port(to.id, to.doc, to.dir, to.port)
    local changed = default and get_value(to.id, to.doc, field) ~= default
    if changed then
      set_value(to.id, to.doc, field, default)
      holding.check(to.id, to.doc)
    end
    if #items > 0 then
      write(to.id, to.doc, to.dir, to.port, items, options or {})
    elseif changed then
      flows.set_off(to.id, to.doc, to.dir, to.port)
    end
  end
  return #items
end

-- Wires --------------------------------------------------------------------------------------------------------------

-- A port with wires keeps nothing: what comes goes on to their ends in the same step. They are `id:dir:port`, one after
-- the other; `!` calls whoever laid it instead: the parent, or for an input the job itself.

-- Down to a child, across to a sibling, up to the parent: never round in a circle, whoever was adopted by whom since.
local function reaches(id, doc, dir, to_id, to_doc, to_dir)
  if dir == 'i' then return to_dir == 'i' and to_doc.parent == id end
  return doc.parent ~= nil and (to_dir == 'i' and to_doc.parent == doc.parent or to_dir == 'o' and to_id == doc.parent)
end

local function is_there(doc, dir, port)
  local pushed, _, dropped = counts(doc, dir, port)
  return pushed and not dropped or doc[dir .. ':*']
end

-- The ends of a port's wires; nil when there are none, or one is not there any more.
function flows.ends_of(id, doc, dir, port)
  local ends = {}
  for to_id, to_dir, to_port in doc['w' .. dir .. ':' .. port]:gmatch('(%d+):([io]):([%w_]+)') do
    local to_doc = find(to_id)
    if not to_doc or not reaches(id, doc, dir, to_id, to_doc, to_dir) then return nil end
    if not is_there(to_doc, to_dir, to_port) then return nil end
    ends[#ends + 1] = { id = to_id, doc = to_doc, dir = to_dir, port = to_port }
  end
  return #ends > 0 and ends or nil
end

-- Adds those to whom its outputs go to a list, for whoever wants them all at once.
function flows.wired_to(doc, ids)
  for field, wires in pairs(doc) do
    if field:sub(1, 3) == 'wo:' then
      for to_id in wires:gmatch('(%d+):[io]:') do ids[#ids + 1] = to_id end
    end
  end
end

-- How many went over the wires of a port, this minute and the one before: minute:count:before.
local function note_passing(id, doc, dir, port, n)
  local field, minute_now = 'm' .. dir .. ':' .. port, math.floor(now / 60000)
  local was_minute, count, before = (doc[field] or ''):match('^(%d+):(%d+):(%d+)$')
  was_minute = tonumber(was_minute) or 0
  if was_minute ~= minute_now then before = was_minute == minute_now - 1 and count or '0' end
  count = was_minute == minute_now and tonumber(count) or 0
  change(id, doc, field, int(minute_now) .. ':' .. int(count + n) .. ':' .. before)
end

function flows.holds(id, doc, dir, port)
  local pushed, taken = counts(doc, dir, port)
  return pushed > taken
end

-- Sends on what a wired port holds. What cannot go stays, and whoever laid the wire is called.
function flows.send_on(id, doc, dir, port, options)
  local ends = flows.ends_of(id, doc, dir, port)
  if ends then
    local n = connect(id, doc, dir, port, ends, { quiet = options.quiet })
    if n > 0 then note_passing(id, doc, dir, port, n) end
    if not flows.holds(id, doc, dir, port) then return end
  end
  local owner = dir == 'i' and id or doc.parent
  local owner_doc = owner and find(owner)
  if owner_doc then wake(owner, owner_doc, 'own') end
end

-- Hop by hop, the nearest first, and not each hop within the one before: that would take three calls a hop, and a way of
-- 80 hops more than some Luas have. A port that is in line already goes on once for all; `passing` is nil between.
pass = function(id, doc, dir, port, options)
  local line = flows.passing
  local waiting = line and line[id .. dir .. port]
  if waiting then return put(waiting, 'quiet', waiting.quiet and options.quiet) end
  local hop = { id = id, doc = doc, dir = dir, port = port, quiet = options.quiet }
  if line then
    put(line, id .. dir .. port, hop)
    return push(line, hop)
  end
  line = { hop }
  put(flows, 'passing', line)
  local at_hop = 1
  while line[at_hop] do
    local next_hop = line[at_hop]
    put(line, next_hop.id .. next_hop.dir .. next_hop.port, nil)
    flows.send_on(next_hop.id, next_hop.doc, next_hop.dir, next_hop.port, next_hop)
    at_hop = at_hop + 1
  end
  put(flows, 'passing', nil)
end

-- What a port's new default sets off: it goes on over the wires, or wakes whoever reads the port.
function flows.set_off(id, doc, dir, port)
  if doc['w' .. dir .. ':' .. port] then return pass(id, doc, dir, port, {}) end
  if dir == 'i' then wake(id, doc, 'own') else wake_parent(id, doc) end
end

-- Lays the wires of a port in the place of those it had, and sends on what waits there.
-- targets: ends, or 'call'; none takes them away. Refusals name the nodes, as the graph does.
function flows.lay(id, doc, dir, port, targets, node)
  local wire = 'wire from ' .. node .. '.' .. port
  if not is_there(doc, dir, port) then refuse('REFUSED', wire .. ': job ' .. id .. ' (' .. doc.class .. ') does not have ' .. sides[dir] .. ' port ' .. port) end
  local pushed, taken = open_port(id, doc, dir, port)
  local text = targets == 'call' and '!' or nil
  if not text and #targets > 0 then
    local list = {}
    for i, to in ipairs(targets) do
      if not is_there(to.doc, to.dir, to.port) then
        local name = to.id == doc.parent and 'the flow' or to.doc.child_name or to.id
        refuse('REFUSED', wire .. ' to ' .. name .. '.' .. to.port .. ': job ' .. to.id .. ' (' .. to.doc.class .. ') does not have ' .. sides[to.dir] .. ' port ' .. to.port)
      end
      open_port(to.id, to.doc, to.dir, to.port)
      if not reaches(id, doc, dir, to.id, to.doc, to.dir) then
        refuse('REFUSED', wire .. ': a wire goes from an input of its flow to a child, or from a child to a sibling or an output of the flow')
      end
      list[i] = to.id .. ':' .. to.dir .. ':' .. to.port
    end
    text = table.concat(list, ' ')
  end
  change(id, doc, 'w' .. dir .. ':' .. port, text)
  if text and (pushed > taken or doc['d' .. dir .. ':' .. port]) then pass(id, doc, dir, port, {}) end
end

local function drop_port(id, doc, dir, port)
  local pushed = drop_values(id, doc, dir, port)
  change(id, doc, dir .. ':' .. port, int(pushed) .. ',' .. int(pushed) .. ',d')
  set_value(id, doc, 'd' .. dir .. ':' .. port, nil)
  set_channels(id, doc, dir, port, {})
  change(id, doc, 'w' .. dir .. ':' .. port, nil)
end

-- One set of ports takes the place of another: those that stay keep their values, the others lose theirs.
-- specs: port → { default?, channels }
local function define(id, doc, dir, specs)
  local drop = {}
  for field in pairs(doc) do
    local port = field:sub(1, 2) == dir .. ':' and field:sub(3)
    if port and not specs[port] then drop[#drop + 1] = port end
  end
  for _, port in ipairs(drop) do
    drop_port(id, doc, dir, port)
  end
  for port, spec in pairs(specs) do
    declare(id, doc, dir, port)
    set_value(id, doc, 'd' .. dir .. ':' .. port, spec.default)
    set_channels(id, doc, dir, port, spec.channels)
  end
  holding.check(id, doc)
end

-- Some ports become what the specs say, others go with what they hold, the rest stays as it is.
function flows.amend(id, doc, dir, specs, drop)
  for _, port in ipairs(drop) do
    if counts(doc, dir, port) then drop_port(id, doc, dir, port) end
  end
  for port, spec in pairs(specs) do
    declare(id, doc, dir, port)
    local field = 'd' .. dir .. ':' .. port
    local changed = spec.default and get_value(id, doc, field) ~= spec.default
    set_value(id, doc, field, spec.default)
    set_channels(id, doc, dir, port, spec.channels)
    if changed then flows.set_off(id, doc, dir, port) end
  end
  holding.check(id, doc)
end

-- Publishing ---------------------------------------------------------------------------------------------------------

-- To more ports than this a message goes by the channel's relay, a job that delivers it page by page; and so does all
-- that follows while the relay has anything left, or it would overtake. `budget`: deliveries left to this script, and bytes.
local MAX_DIRECT, budget, bytes_left = 500, 1000, 8388608

local function deliver(channel, member, items)
  local id, port = member:match('^(%d+):(.*)$')
  local doc = find(id)
  local pushed, taken, dropped
  if doc then pushed, taken, dropped = counts(doc, 'i', port) end
  if not pushed or dropped or not has(channels_of(id, doc, 'i', port), channel) then
    member_change(channel, member, false)
    return 0
  end
  -- Who does not read misses what comes then.
  if pushed - taken + #items > MAX_WAITING or not holding.has_room(id, doc, lists.bytes(items)) then return 0 end
  write(id, doc, 'i', port, items, {})
  return #items
end

-- The ports that listen, in the order of their names, from behind one of them on.
local function listeners(channel, behind, most)
  return redis.call('ZRANGEBYLEX', ns .. 'channel:' .. channel, behind and '(' .. behind or '-', '+', 'LIMIT', 0, most)
end

local function deliver_all(channel, members, items)
  local ids, reached = {}, 0
  for i, member in ipairs(members) do ids[i] = member:match('^%d+') end
  fetch_jobs(ids)
  for _, member in ipairs(members) do reached = reached + deliver(channel, member, items) end
  budget = budget - #members * #items
  bytes_left = bytes_left - #members * lists.bytes(items)
  return reached
end

-- All who listen, with those that this script has added. Once they are few again they are listed.
local function everyone(channel)
  local n, relay, listed = relays.audience(channel)
  if listed then return listed end
  local members, pending, old = listeners(channel, nil, MAX_DIRECT), writes.zsets[ns .. 'channel:' .. channel], {}
  if not pending then
    if #members == n then relays.list(channel, n, relay, members) end
    return members
  end
  for _, member in ipairs(members) do old[member] = true end
  for member, score in pairs(pending) do
    if score and not old[member] then members[#members + 1] = member end
  end
  return members
end

local function has_left(relay)
  local pushed, taken = counts(find(relay) or {}, 'i', 'in')
  return pushed and pushed > taken
end

-- Where all who listen are on one page, several messages go to them at once.
local function together(list, n, most)
  local items, bytes = lists.items(list, math.max(1, math.floor(most / (n + 1)))), 0
  for i, item in ipairs(items) do
    bytes = bytes + #item * n
    if bytes > bytes_left and i > 1 then return lists.slice(items, 1, i - 1) end
  end
  return items
end

-- What a relay does in one run: its oldest message for the next page of listeners, and the next one when that is done.
function relays.run(id, doc)
  local most = math.min(MAX_DIRECT, budget)
  local pushed, taken = counts(doc, 'i', 'in')
  while most > 0 and pushed > taken do
    local list = lists.of(id, doc, 'i', 'in', pushed - taken)
    local oldest = lists.items(list, 1)
    local page = math.max(1, math.min(most, math.floor(bytes_left / #oldest[1])))
    local members = listeners(doc.relay_channel, doc.relay_cursor, page)
    if #members < page and not doc.relay_cursor then oldest = together(list, #members, most) end
    deliver_all(doc.relay_channel, members, oldest)
    if #members == page then
      change(id, doc, fields.relay_cursor, members[page])
    else
      change(id, doc, fields.relay_cursor, nil)
      lists.pop(list, #oldest)
      taken = taken + #oldest
      set_counts(id, doc, 'i', 'in', pushed, taken)
    end
    -- A message costs something even where nobody is left to hear it.
    most = bytes_left > 0 and most - #members * #oldest - 10 or 0
  end
  return pushed > taken
end

-- Whoever is subscribed outside hears so many messages of one script; what is more passes by.
local MAX_LIVE = 5000
local function tell_live(channel, item, all)
  if #writes.messages > MAX_LIVE then return end
  local _, _, _, value = parts(item)
  -- On one line, as an event has to be. In JSON a line may end only where a space may stand.
  local text = channel .. '\t' .. value:gsub('[\r\n]', ' ')
  for _, level in ipairs(all) do push(writes.messages, { ns .. 'live:' .. level, text }) end
end

-- Messages go to every input port that listens to the channel or to one above it, and to whoever is subscribed
-- outside. A subscriber that cannot take one is dropped; it never harms the publisher.
publish = function(channel, items)
  local all, reached, marked = levels(channel), 0, nil
  local asked = {}
  relays.foresee(channel, asked)
  fetch(asked)
  for _, level in ipairs(all) do
    local n, relayed_by = relays.audience(level)
    if n > 0 and not marked then
      marked = {}
      for i, item in ipairs(items) do marked[i] = with_channel(item, channel) end
    end
    if n > MAX_DIRECT or n * #items > budget or n * lists.bytes(items) > bytes_left or (relayed_by and n > 0 and has_left(relayed_by)) then
      relays.hand_over(level, relayed_by, marked or items)
      reached = reached + n
    elseif n > 0 then
      local members = everyone(level)
      reached = reached + deliver_all(level, members, marked)
      if #members <= FEW then
        for _, member in ipairs(members) do relays.heard[#relays.heard + 1] = member:match('^%d+') end
      end
    end
  end
  local _, till = hints()
  if till > now then
    for _, item in ipairs(items) do tell_live(channel, item, all) end
  end
  return reached
end

local told = {} -- messages of our own: { channel, item }
tell_status = function(id, doc, status)
  if doc.quiet then return end
  if hints_wanted() then push(told, { '/sidejob/job/' .. id, '@\n\nl\n{"status":"' .. status .. '"}' }) end
end
local function tell_all()
  local did = #told > 0
  while #told > 0 do
    local batch = told
    told = {}
    for _, e in ipairs(batch) do publish(e[1], { e[2] }) end
  end
  return did
end
table.insert(consequences, tell_all)

-- A line for the log page, and a message for whoever listens to /sidejob/log.
local MAX_LOG = 16384
local function log(job, level, entry, is_fault)
  local message, reason, rest = (is_fault and entry or ''):match('^{"message":(".-"),("reason":"%a+")(.*)$')
  -- The error of a run, in SideJob's words: `error` and `backtrace`.
  if message then entry = '{"error":' .. message .. ',' .. reason .. rest:gsub('^,"stack":', ',"backtrace":', 1) end
  if #entry > MAX_LOG then entry = '{"message":"an entry of ' .. #entry .. ' bytes, of which only its size is kept","$size":' .. #entry .. '}' end
  push(writes.log, { job or '', level, entry })
  if hints_wanted() then push(told, { '/sidejob/log', '@\n\nl\n' .. entries.text(job, entry) }) end
end
