-- After a change of a constraint, its limits open in slices, so that their waiting jobs get new limits. The next job
-- that sets a limit closes it again.

-- Costs have a unit of about 10 µs.
local PAGE, JOB, SLICE = 3, 5, 2000

-- `rest`: `<scan cursor>:<name of the constraint>`
function opening.go_on(rest)
  local cursor, name = rest:match('^(%d+):(.*)$')
  local prefix, version, cost = 'constraint:' .. name .. ':', select(3, hints.known()), 0
  repeat
    local page = redis.call('SSCAN', ns .. 'limits', cursor, 'MATCH', 'constraint:*', 'COUNT', 100)
    cursor, cost = page[1], cost + PAGE
    cache.fetch_limits(page[2])
    for _, key in ipairs(page[2]) do
      local settings = (key .. ':'):sub(1, #prefix) == prefix and limits.of(key)
      if settings then
        local waiting = settings.waiting or 1
        cost = cost + 1 + JOB * waiting
        if settings.constraints_version ~= version then
          limits.save(key, limit_fields.open, 1)
        elseif waiting > 0 then
          -- A job with the current constraints has set this limit, so only jobs with older constraints leave it.
          limits.save(key, limit_fields.reordering, '0')
        end
        if waiting > 0 then limits.touch(key) end
      end
    end
  until cursor == '0' or cost > SLICE
  if cursor ~= '0' then cache.zset(ns .. 'wake', 'c:' .. cursor .. ':' .. name, time.now) end
end
