-- In milliseconds. BEAT: the time of a worker's last request is stored at most this often. FORGOTTEN: a worker without
-- a request for this time may be removed to make room.
local BEAT, FORGOTTEN, MOST, MOST_QUEUES = 5000, 600000, 1000, 20
processes.key = ns .. 'processes'

function processes.read(text)
  local since, seen_at, signal, rest = text:match('^(%d+),(%d+),(%a*)(.*)$')
  return { since = tonumber(since), seen_at = tonumber(seen_at), signal = signal, queues = tables.lines(rest) }
end

function processes.write(name, known)
  local head = known.since .. ',' .. known.seen_at .. ',' .. known.signal
  cache.hset(processes.key, name, head .. '\n' .. table.concat(known.queues, '\n'))
end

local function has_place()
  if redis.call('HLEN', processes.key) < MOST then return true end
  local gone = false
  for name, text in pairs(cache.hash(processes.key)) do
    if time.now - processes.read(text).seen_at > FORGOTTEN then
      cache.hset(processes.key, name, false)
      gone = true
    end
  end
  return gone
end

function processes.contact(name, q)
  local text = cache.hget(processes.key, name)
  local known = text and processes.read(text)
  if not known or time.now - known.seen_at > FORGOTTEN then
    if not text and not has_place() then return '' end
    known = { since = time.now, seen_at = 0, signal = '', queues = {} }
  end
  local is_new = q ~= '' and not tables.has(known.queues, q) and #known.queues < MOST_QUEUES
  if is_new then known.queues[#known.queues + 1] = q end
  if is_new or time.now - known.seen_at >= BEAT then
    known.seen_at = time.now
    processes.write(name, known)
  end
  return known.signal
end
