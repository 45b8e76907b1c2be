local MAX_CALLS = 100

function waiters.stand(q, waiter, patterns, till)
  cache.zset(redis_keys.queue(q, 'waiters'), waiter .. '\n' .. table.concat(patterns, '\n'), till > time.now and till)
  if till > time.now then
    cache.change_queue(q, queue_fields.pulls_until, math.max(cache.queue(q).pulls_until or 0, till))
  end
end

function waiters.waiter_of(member)
  local words = tables.lines(member)
  return table.remove(words, 1), words
end

local function call_waiters(q, classes)
  local key = redis_keys.queue(q, 'waiters')
  local waiting = redis.call('ZRANGEBYSCORE', key, '(' .. time.now_text, '+inf', 'LIMIT', 0, MAX_CALLS)
  journal.put(cache.writes.trims, key, time.now)
  local claims = {}
  for i, member in ipairs(waiting) do
    local waiter, patterns = waiters.waiter_of(member)
    claims[i] = { member = member, waiter = waiter, patterns = patterns, known = {} }
  end
  local in_vain = {} -- class → true if no remaining waiter wants it
  for _, class in ipairs(classes) do
    for i, claim in ipairs(in_vain[class] and {} or claims) do
      -- After too many steps of matching, a claim is woken without a match.
      if class == '' or globs.steps <= 0 or globs.match(class, claim.patterns, claim.known) then
        cache.zset(key, claim.member, false)
        cache.publish('call:' .. claim.waiter, 'ready')
        table.remove(claims, i)
        break
      end
      in_vain[class] = i == #claims
    end
    if #claims == 0 then return end
  end
end

function waiters.call_all()
  for q, classes in pairs(places.to_call) do
    if (cache.queue(q).pulls_until or 0) > time.now then call_waiters(q, classes) end
  end
  places.to_call = {}
end
