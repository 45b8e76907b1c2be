-- Making jobs with nothing beside their documents, many at once: no decoding, only text.

-- What stands around the sequence and the args of each: see lib/plain.lua for the mark of those that are ready.
local function frame(spec, place, past)
  local mark, fields = spec.tail:match('^( ?){(.*)}$')
  local since = past and '"t":"' .. now_text .. '",' or ''
  return (place == '' and mark or '') .. '{"n":"', '",' .. place .. since .. fields
end

-- Makes n of them. Answers the first id; the others follow it.
local function create_plain(spec, n)
  check_registered(spec.queue, spec.class, spec.known)
  local q, moment, asked = spec.queue, moment_of(spec)
  local pull = side.of(q, spec.class)
  local place = moment and '"z":"t","w":"' .. int(moment) .. '",' or pull and '"z":"p",' or ''
  local past = pull and not moment and asked
  local head, tail = frame(spec, place, past)
  local index, tell = queue_key(q, moment and 'timers' or pull and 'ready:pull' or 'ready'), hints_wanted()
  -- Nothing is taken back here, so nothing goes through `put`.
  local strings, members, first = writes.strings, within(writes.zsets, index), next_ids(n)
  for i = 1, n do
    local id, args = string.format('%.0f', first + i - 1), take()
    local since = past and sequence_of(past, id) or sequence()
    members[moment and id or since .. ':' .. id] = moment or spec.priority
    strings[ns .. 'job:' .. id] = args ~= '' and head .. since .. tail .. ',"a":' .. cjson.encode(args) .. '}' or head .. since .. tail .. '}'
    if pull and not moment then push(within(to_call, q), spec.class) end
    if tell then tell_status(id, cjson.decode(spec.tail), 'queued') end
  end
  if moment then soonest(q, 'nt', moment) end
  if not moment and not pull then put(to_ring, q, (to_ring[q] or 0) + n) end
  count(q, 'made', n)
  return string.format('%.0f', first)
end
