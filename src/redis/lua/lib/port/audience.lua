local MAX_LISTENERS = 100000

function audience.is_system(channel) return channel == '/' or channel:sub(1, 8) == '/sidejob' end

-- The audience `2,7 12:in 15:in` means that 2 ports listen (`in` of job 12 and `in` of job 15) and job 7 is the relay.
-- If more than FEW ports listen, the audience does not list them.
audience.FEW = 8
local function audience_key(channel) return ns .. 'audience:' .. channel end

local nobody = {}
function audience.of(channel)
  local text = cache.text_at(audience_key(channel))
  if not text then return 0, nil, nobody end
  local n, relay, named = text:match('^(%d+),?(%d*)(.*)$')
  if not n then
    readable.note(audience_key(channel), text)
    return 0, nil, nobody
  end
  local listed = {}
  for member in named:gmatch('%S+') do listed[#listed + 1] = member end
  return tonumber(n), relay ~= '' and relay or nil, #listed == tonumber(n) and listed or nil
end

local function head_of_audience(n, relay)
  return (n > 0 or relay) and n .. (relay and ',' .. relay or '') or false
end

function audience.list(channel, n, relay, listed)
  local head = head_of_audience(n, relay)
  cache.replace_text(audience_key(channel), head
    and (listed and #listed <= audience.FEW and table.concat({ head, unpack(listed, 1, audience.FEW) }, ' ') or head))
end

function audience.set(channel, n, relay, listed)
  cache.hset(ns .. 'channels', channel, head_of_audience(n, relay))
  audience.list(channel, n, relay, listed)
end

function audience.set_relay(channel, relay)
  local n, _, listed = audience.of(channel)
  audience.set(channel, n, relay, listed)
end

function audience.foresee(channel, asked)
  for _, level in ipairs(hints.levels(channel)) do asked[#asked + 1] = audience_key(level) end
end

function audience.member_change(channel, member, present)
  local key, score = ns .. 'channel:' .. channel, present and 0
  local pending = cache.writes.zsets[key]
  if pending and pending[member] == score then return end
  local n, relay, listed = audience.of(channel)
  if present and n >= MAX_LISTENERS then
    journal.refuse('LIMITED',
      'channel ' .. channel .. ': expected at most ' .. MAX_LISTENERS .. ' listening ports: remove one first')
  end
  if listed then listed = tables.without(listed, member) end
  if listed and present then listed[#listed + 1] = member end
  audience.set(channel, n + (present and 1 or -1), relay, listed)
  cache.zset(key, member, score)
  if audience.is_system(channel) then
    hints.set { system = hints.known() + (present and 1 or -1) }
  end
end

function audience.channels_of(port) return values.decoded(port.id, port.doc, 'c' .. port.field) or {} end

function audience.set_channels(port, channels)
  if #channels > 0 and port.name == '*' then journal.refuse('REFUSED', 'port * cannot have channels') end
  if port.dir == 'i' then
    local was, is, changed, keys = tables.set_of(audience.channels_of(port)), tables.set_of(channels), {}, {}
    for c in pairs(was) do changed[c] = false end
    for c in pairs(is) do changed[c] = not was[c] or nil end
    for c in pairs(changed) do keys[#keys + 1] = audience_key(c) end
    cache.fetch(keys)
    for c, present in pairs(changed) do audience.member_change(c, port.id .. ':' .. port.name, present) end
  end
  values.set_value(port.id, port.doc, 'c' .. port.field, #channels > 0 and cjson.encode(channels) or nil)
end
