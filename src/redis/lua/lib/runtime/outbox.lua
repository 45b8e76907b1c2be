-- The outbox keeps records until the history has stored them. A script writes a numbered entry of the outbox in the
-- same command as the documents of its jobs. HEAD exists only if there is a history.

local HEAD = ns .. 'outbox'

-- If the outbox has this many bytes, no job is claimed until the history has stored some records.
outbox.MAX_BYTES = 67108864
local TEXT_BYTES, VALUE_BYTES = 262144, 32768

function outbox.head()
  local text = cache.text_at(HEAD)
  if not text then return nil end
  local from, till, bytes, seen, retain = text:match('^(%d+),(%d+),(%d+),(%d+),?(%d*)$')
  return from and { from = from + 0, till = till + 0, bytes = bytes + 0, seen = seen + 0, retain = retain }
end

function outbox.is_on() return cache.text_at(HEAD) and true or false end

function outbox.is_full()
  local head = outbox.head()
  return head ~= nil and head.bytes >= outbox.MAX_BYTES
end

outbox.entries = {}

local function line_of(one)
  if one.large then one.document[fields.args] = outbox.bounded(cache.text_at(one.large) or nil) end
  return cjson.encode({ one.kind, one.id, one.document, outbox.bounded(one.value) })
end

local function write(head, lines)
  local text = table.concat(lines, '\n')
  cache.set_text(outbox.key(head.till), text)
  head.till = head.till + 1
  head.bytes = head.bytes + #text
end

function outbox.flush()
  local head, entries = outbox.head(), outbox.entries
  if not head then return end
  local lines, bytes, large_keys = {}, 0, {}
  for i = 1, #entries do large_keys[#large_keys + 1] = entries[i].large end
  cache.fetch(large_keys)
  for i = 1, #entries do
    local line = line_of(entries[i])
    if bytes > 0 and bytes + #line > TEXT_BYTES then
      write(head, lines)
      lines = {}
      bytes = 0
    end
    lines[#lines + 1] = line
    bytes = bytes + #line
  end
  write(head, lines)
  outbox.set_head(head)
  for i = #entries, 1, -1 do entries[i] = nil end
end

function outbox.key(n) return HEAD .. ':' .. n end

function outbox.retain() return tonumber((outbox.head() or {}).retain) end

function outbox.set_head(head)
  cache.set_text(HEAD, ('%.0f,%.0f,%.0f,%.0f,%s'):format(head.from, head.till, head.bytes, head.seen, head.retain))
end

function outbox.drop(head, most)
  for number = head.from, math.min(head.till, head.from + most) - 1 do
    cache.replace_text(outbox.key(number), nil)
    head.from = number + 1
  end
  if head.from == head.till then cache.replace_text(HEAD, nil) else outbox.set_head(head) end
end

-- A full outbox stops all jobs, so its records are removed if no deployment has read it for LEFT milliseconds.
local LEFT, DROPPED = 3600000, 5000

function outbox.drop_left()
  local head = outbox.head()
  if outbox.is_full() and head.seen < time.now - LEFT then outbox.drop(head, DROPPED) end
end

function outbox.bounded(value)
  return value and #value > VALUE_BYTES and '{"$large":' .. #value .. '}' or value
end

function outbox.push(kind, id, document, value, large)
  journal.push(outbox.entries, { kind = kind, id = id, document = document, value = value, large = large })
end
