-- Returns all limits, or one limit, with its used capacity and its waiting jobs.
--
-- by: API, dashboard
-- reads: limit, limits
-- most_starts: maximum starts to return, newest first. If above 0, the answer also has the time at which
--   the first waiting job became ready

local key, cursor, most, most_starts = args.take(), args.take(), args.take_int(), args.take_int()

local function first_since(name, waiting)
  local first = most_starts > 0 and waiting > 0 and redis.call('ZRANGE', redis_keys.limit(name, 'waiting'), 0, 0)[1]
  return first and time.moment_of_sequence(first:sub(1, 13)) or ''
end

local function starts_of(name, period)
  local starts, flat = {}, most_starts > 0 and period
    and redis.call('ZREVRANGEBYSCORE', redis_keys.limit(name, 'window'), '+inf',
    '(' .. numbers.int(time.now - period), 'WITHSCORES', 'LIMIT', 0, most_starts) or {}
  for i = 2, #flat, 2 do starts[#starts + 1] = flat[i] end
  return starts
end

local names, cursor_after = { key }, '0'
if key == '' then
  local scanned = redis.call('SSCAN', ns .. 'limits', cursor, 'COUNT', most)
  cursor_after, names = scanned[1], scanned[2]
end
local rows = {}
cache.fetch_limits(names)
for _, name in ipairs(names) do
  local state = limits.at(name)
  if state.settings then
    local waiting = limits.count_in_line(name)
    local starts = starts_of(name, state.settings.rate and state.settings.period)
    local started = #starts < most_starts and #starts or most_starts > 0 and state.started or 0
    rows[#rows + 1] = limit_rows.of(name, waiting, first_since(name, waiting), started, starts)
  end
end
return reply.limits { limits = rows, cursor = cursor_after ~= '0' and cursor_after or '' }
