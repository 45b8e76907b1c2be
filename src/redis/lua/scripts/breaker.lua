-- Decides if a host may be called. The breaker opens after `threshold` consecutive failures, for a time that grows with
-- each failure. After this time, one caller may try the host (the probe).
--
-- by: callbacks, dispatcher
-- updates: breaker
-- writes: breakers
-- word: 'ask' | 'failed' | 'probe failed' | 'succeeded'. A repeated request may count a failure twice.

local host, word, threshold = args.take(), args.take(), args.take_int()
local base, cap, floor, probing = args.take_int(), args.take_int(), args.take_int(), args.take_int()

local DAY = 86400000
local key = ns .. 'breaker:' .. host
local failures, moment, probed = (redis.call('GET', key) or '0,0'):match('^(%d+),(%d+)(p?)$')
local n, till = tonumber(failures), tonumber(moment)

local function keep(mark) redis.call('SET', key, n .. ',' .. numbers.int(till) .. mark, 'PX', DAY) end

local function state()
  if n < threshold then return reply.breaker { state = 'closed', failures = n } end
  return reply.breaker { state = 'open', till = probed == 'p' and math.min(till, time.now + base) or till,
    failures = n }
end

local function fail(counts)
  if not counts then return state() end
  n = n + 1
  if n >= threshold then
    till = time.now + math.max(floor, backoff.doubling(base, n - threshold + 1, cap))
    redis.call('ZADD', ns .. 'breakers', time.now_text, host)
    redis.call('ZREMRANGEBYSCORE', ns .. 'breakers', '-inf', numbers.int(time.now - DAY))
  end
  probed = ''
  keep('')
  return state()
end

local words = {
  ask = function()
    if n < threshold or till > time.now then return state() end
    till = time.now + probing
    keep('p')
    return reply.breaker { state = 'probe', till = till, failures = n }
  end,
  failed = function() return fail(n < threshold) end,
  ['probe failed'] = function() return fail(true) end,
  succeeded = function()
    redis.call('DEL', key)
    if n >= threshold then redis.call('ZREM', ns .. 'breakers', host) end
    return reply.breaker { state = 'closed', failures = n }
  end,
}
return words[word]()
