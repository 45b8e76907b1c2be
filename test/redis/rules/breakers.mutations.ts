import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    38,
    'scripts/breaker.lua',
    ["local key = ns .. 'breaker:' .. host", "local key = ns .. 'breaker'", 'one host opens the breaker of all'],
    [
      "return reply.breaker { state = 'closed', failures = n } end\n  return",
      "return reply.breaker { state = 'closed', failures = '0' } end\n  return",
      'failures are not reported',
    ],
    [
      'if n < threshold then return reply.breaker {',
      'if n <= threshold then return reply.breaker {',
      'a host is paused one failure too late',
    ],
    ['  if not counts then return state() end\n', '', 'calls that began before the pause count too'],
    ['if n >= threshold then\n    till', 'if false then\n    till', 'a host is never paused'],
    ['math.max(floor, ', 'math.max(0, ', 'an answer of the host does not count'],
    ['threshold + 1, cap)', 'threshold + 1, 1e300)', 'the pause grows without a maximum'],
    ['backoff.doubling(base, n - threshold + 1, cap)', 'base', 'the pause does not grow'],
    ['if n < threshold or till > time.now then', 'if n < threshold then', 'every caller may probe'],
    ['    till = time.now + probing\n', '', 'all callers try at once after the pause'],
    ["    keep('p')\n", "    keep('')\n", 'a caller during a probe waits for the maximum'],
    ["  probed = ''\n", '', 'the reported time after a probe is too short'],
    ['till = time.now + probing', 'till = time.now + 86400000', 'no caller probes after a probe without an answer'],
    ["    redis.call('DEL', key)\n", '', 'a success changes nothing'],
    ["    redis.call('ZADD', ns .. 'breakers', time.now_text, host)\n", '', 'paused hosts are not listed'],
    [
      "    redis.call('ZREMRANGEBYSCORE', ns .. 'breakers', '-inf', numbers.int(time.now - DAY))\n",
      '',
      'unused hosts are listed forever',
    ],
    [
      "    if n >= threshold then redis.call('ZREM', ns .. 'breakers', host) end\n",
      '',
      'a host that answers again is listed as failing',
    ],
    ['return fail(true) end', 'return fail(n < threshold) end', 'a probe that fails changes nothing'],
  ),
]
