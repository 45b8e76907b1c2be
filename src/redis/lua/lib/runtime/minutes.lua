-- Counts of the last ten minutes as `minute:count:count…`, newest first, without zeros at the end.

local MINUTES = 10

function minutes.counted(text, n)
  local was_minute, rest = (text or ''):match('^(%d+):([%d:]*)$')
  -- If Redis' clock goes back, counting continues in the newest minute.
  local minute_now = math.max(time.minute, tonumber(was_minute) or 0)
  local counts = {}
  for _ = 1, math.min(MINUTES, minute_now - (tonumber(was_minute) or minute_now)) do counts[#counts + 1] = '0' end
  for count in (rest or '0'):gmatch('%d+') do counts[#counts + 1] = count end
  counts[1] = counts[1] + n
  local last = math.min(MINUTES, #counts)
  while last > 1 and counts[last] == '0' do last = last - 1 end
  return minute_now .. ':' .. table.concat(counts, ':', 1, last)
end
