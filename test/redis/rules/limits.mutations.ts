import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    26,
    'lib/run/claim.lua',
    ['  if sides.is_limited(doc) then limits.take_slots(id, doc) end\n', '', 'a run takes no slot'],
    [
      'local full = sides.is_limited(doc) and limits.first_full(doc)',
      'local full = false',
      'a claim does not check for a free slot',
    ],
  ),
  ...of(26, 'lib/queue/sides.lua', [
    '  keys[#keys + 1] = sides.own_limit(doc)\n',
    '',
    'a worker has more runs than its concurrency',
  ]),
  ...of(
    26,
    'lib/limit/limits.lua',
    ["      journal.put(state, 'taken', state.taken + 1)\n", '', 'one claim exceeds a limit repeatedly'],
    [
      "fields.held_limits, table.concat(taken, '\\n')",
      'fields.held_limits, doc.limits',
      'a run of a bounded worker keeps its slot when it ends',
    ],
    [
      "redis_keys.limit(state.key, 'held'), '(' .. time.now_text, '+inf')",
      "redis_keys.limit(state.key, 'held'), '-inf', '+inf')",
      'an expired lease holds its slot until it is checked',
    ],
    [
      "cache.zset(redis_keys.limit(key, 'held'), id, tonumber(doc.lease_until))\n      journal.put(",
      "redis.call('INCR', redis_keys.limit(key, 'count'))\n      journal.put(",
      'slots are counted apart from leases',
    ],
    [
      'function limits.release_slots(id, doc)\n  for _, key in ipairs(tables.lines(doc.held_limits)) do',
      'function limits.release_slots(id, doc)\n  for _, key in ipairs(tables.lines(doc.limits)) do',
      'a run gives back a slot it did not take',
    ],
    ['  cache.change(id, doc, fields.held_limits, nil)\n', '', 'a job that has no run still seems to hold slots'],
    ["    cache.zset(redis_keys.limit(key, 'held'), id, false)\n", '', 'a slot is held by a job without a lease'],
    [
      "    cache.zset(redis_keys.limit(key, 'held'), id, tonumber(doc.lease_until))\n    if sooner",
      '    if sooner',
      'a continuing run loses its slots',
    ],
    [
      '  for _, key in ipairs(sides.limits_of(doc)) do\n    local state',
      '  for _, key in ipairs({ sides.limits_of(doc)[1] }) do\n    local state',
      'only the first limit counts',
    ],
    [
      '    if state.settings then\n      taken[#taken + 1] = key\n',
      '    taken[#taken + 1] = key\n    if state.settings then\n',
      'a run that began before its limit seems to hold a slot',
    ],
    [
      "    if how == 'first' then journal.put(state, 'taken', 0) end",
      "    journal.put(state, 'taken', 0)",
      'the first script of a recreated limit does not know the holders of its slots',
    ],
  ),
  ...of(
    26,
    'scripts/register.lua',
    [
      '{ concurrency = concurrency, gone = false }',
      '{ concurrency = concurrency }',
      'a worker’s limit that is set again is removed',
    ],
    [
      '  bound(class, tonumber(concurrency), differs)\n',
      '  if not is_marked(queue_fields.bounded_classes, class) then bound(class, tonumber(concurrency), differs) end\n',
      'a worker keeps its first concurrency',
    ],
    ['anew or not limits.of(own)', 'anew', 'a worker whose limit was removed has none until it changes'],
    ['(anew or not limits.of(own))', 'true', 'settings of a worker’s limit are lost'],
    ['      bound(class)\n', '', 'a class that its deployment no longer has keeps its limit'],
    [
      '    limits.remove(own)\n',
      '    limits.define(own, { concurrency = false })\n',
      'a limit of a worker stays forever',
    ],
  ),
  ...of(26, 'lib/run/leases.lua', [
    '  if doc.held_limits then limits.release_slots(id, doc) end\n  cache.clear(id, doc, lease_fields)',
    '  cache.clear(id, doc, lease_fields)',
    'a run that has ended keeps its slots',
  ]),
  ...of(26, 'lib/run/leases.lua', [
    '  if doc.held_limits then limits.renew_slots(id, doc, till < was) end\n',
    '',
    'a lease that is renewed or shortened loses its slots',
  ]),
  ...of(26, 'lib/limit/waiting.lua', [
    "  if not is_removed then cache.del(redis_keys.limit(key, 'held')) end\n",
    "  cache.del(redis_keys.limit(key, 'held'))\n",
    'a removed limit removes the slots of its runs',
  ]),
  ...of(26, 'lib/run/ops/on_records.lua', [
    '  if doc.place == PLACE.limited then places.move(me.id, doc, PLACE.limited, nil, doc.waiting_limit) end\n',
    '',
    'a new priority does not count for jobs waiting at a limit',
  ]),
  ...of(26, 'lib/limit/assign.lua', [
    '  if doc.place == PLACE.limited or states.is_ready(doc) then\n    local full',
    '  if false then\n    local full',
    'a waiting job does not move with its limits',
  ]),
  ...of(
    27,
    'lib/limit/limits.lua',
    ['local promised = settings.promised or 0', 'local promised = 0', 'a slot is given away twice'],
    ['(doc.reserved_limit == key and 1 or 0) < 1', '0 < 1', 'a job with a reserved slot gets no slot'],
  ),
  ...of(
    27,
    'lib/limit/waiting.lua',
    [
      'places.move(id, doc, sides.of(doc), nil, nil, true)\n      if settings',
      'places.move(id, doc, sides.of(doc))\n      if settings',
      'a job that waited comes back after later jobs',
    ],
    ['        cache.change(id, doc, fields.reserved_limit, key)\n', '', 'a returning job has no reserved slot'],
    ['if settings and not cache.queue(doc.queue).paused then', 'if settings then', 'a paused queue keeps slots'],
    [
      'until not waiter or limits.room_at(key) <= 0 or may_move <= 0',
      'until true',
      'jobs of a paused queue delay later jobs',
    ],
    ['  may_move = may_move - #ids\n', '', 'a call passes any number of jobs of a paused queue'],
    [
      'limits.room_at(key) > 0 and time.now or limits.next_room(key)',
      'limits.next_room(key)',
      'a job behind many jobs of a paused queue is not checked',
    ],
  ),
  ...of(27, 'lib/runtime/tables.lua', [
    'a[2] < b[2] or (a[2] == b[2] and a[1] < b[1])',
    'a[2] > b[2] or (a[2] == b[2] and a[1] > b[1])',
    'the last waiting job comes first',
  ]),
  ...of(
    27,
    'lib/limit/limits.lua',
    [
      'if settings then limits.save(key, limit_fields.promised, math.max(0, (settings.promised or 0) - 1)) end',
      '',
      'a slot that was given is never given again',
    ],
    ['- 1)) end\n  limits.touch(key)\n', '- 1)) end\n', 'a freed slot reaches no job'],
    [
      '    if sooner and limits.room_at(key) < 1 then limits.touch(key) end\n',
      '',
      'a waiting job does not learn that a run is to end sooner',
    ],
    [
      '    limits.touch(key)\n  end\n  cache.change(id, doc, fields.held_limits, nil)',
      '  end\n  cache.change(id, doc, fields.held_limits, nil)',
      'a returned slot reaches no job',
    ],
    [
      'limits.save(key, field, value or nil) end\n  end\n  limits.touch(key)\n',
      'limits.save(key, field, value or nil) end\n  end\n',
      'a raised limit has no effect on waiting jobs',
    ],
  ),
  ...of(
    27,
    'lib/limit/waiting.lua',
    [
      '    cache.change_queue(doc.queue, queue_fields.limit_moments, waits)\n',
      '',
      'a claim does not know when a rate admits the next job',
    ],
    ['  limits.check_at(key, moment)\n', '', 'the tick does not know when a slot becomes free'],
  ),
  ...of(
    27,
    'lib/limit/limits.lua',
    ['if settings.paused or', 'if', 'a paused limit admits all jobs'],
    ['(settings.rate or numbers.never) - state.started - promised)', 'numbers.never)', 'a rate is not kept'],
    ['math.min(time.now, doc.ran_at + margin', '(doc.ran_at + margin', 'a short run counts for longer than it can'],
    ['+ margin(settings, late))', '+ margin(settings, 0))', 'a run that began late collides with the next period'],
    [
      "'(' .. numbers.int(time.now - state.settings.period), '+inf') or 0",
      "'(' .. numbers.int(time.now), '+inf') or 0",
      'only current starts count for a rate',
    ],
    [
      "if settings.concurrency then first('held', time.now, 0) end",
      '',
      'a job waiting for a lease checks every second',
    ],
  ),
  ...of(
    27,
    'lib/limit/turns.lua',
    [
      'and time.digits(time.micros_of(last) + 1) or front',
      'and last or front',
      'the group that came first is drained first',
    ],
    [
      "if key == 'group:' .. (doc.group or '') or not limits.of(key) then",
      "if not doc.group or key == 'group:' .. doc.group or not limits.of(key) then",
      'jobs without a group precede all groups',
    ],
    [
      '  local tier = numbers.int(order.score(doc))\n  local group',
      "  local tier = '0'\n  local group",
      'a group with many jobs of one priority waits with the jobs of another',
    ],
    ['(front_of(key, tier) or doc.sequence)', 'doc.sequence', 'a later group waits for all turns that are given'],
    ['first == false or (first and', 'not first or (', 'a job that comes in a batch is placed after the batch'],
    ["is_let_through and turn .. ',0' or nil", 'nil', 'a group whose jobs come one by one is always in front'],
    ["last .. ',' .. n - 1", "last .. ',' .. n", 'the turns of deleted jobs delay other jobs'],
    [' or whose ~= group then', ' then', 'a job that changed its group keeps the turn of the old one'],
    [
      'if names:sub(size + 1) ~= key then lines',
      'if false then lines',
      'a job loses its turn while it waits at another limit',
    ],
  ),
  ...of(27, 'lib/job/places.lua', [
    '  cache.change(id, doc, fields.turns, nil)\n',
    '',
    'a job that runs again keeps its former turn',
  ]),
  ...of(27, 'lib/limit/assign.lua', [
    ' and not was.fixed',
    '',
    'the next job resets a limit that was set through the API',
  ]),
  ...of(27, 'lib/limit/assign.lua', [
    'gone = was.gone and false',
    'gone = nil',
    'a limit that was removed while runs held its slots stays removed',
  ]),
  ...of(27, 'lib/limit/assign.lua', [
    '  if doc.reserved_limit and not tables.has(sides.limits_of(doc), doc.reserved_limit) then limits.drop_baton(id, doc) end\n',
    '',
    'a slot is kept for a job that has left the limit',
  ]),
  ...of(27, 'lib/job/places.lua', [
    '  if doc.reserved_limit and states.is_ready(doc) then limits.drop_baton(id, doc) end\n',
    '',
    'a leaving job takes its slot along',
  ]),
  ...of(
    27,
    'lib/run/claim.lua',
    ['    waiting.set_aside(id, doc, full)\n', "    return 'stop'\n", 'a job without room delays all jobs after it'],
    [
      'local full = sides.is_limited(doc) and limits.first_full(doc)',
      'local full = (doc.limits or sides.own_limit(doc)) and limits.first_full(doc)',
      'a shutdown run waits for a slot',
    ],
  ),
  ...of(27, 'scripts/commit.lua', [' + limits.due(queue_name)', '', 'a claim does not check due limits']),
  ...of(27, 'scripts/tick.lua', [
    "if kind == 'k' then limits.touch(name) end",
    '',
    'the tick does not check due limits',
  ]),
  ...of(28, 'scripts/enqueue.lua', [
    'if version ~= tagged then',
    'if false then',
    'a job is tagged by removed constraints',
  ]),
  ...of(
    28,
    'lib/run/claim.lua',
    [
      "return not doc.terminating and (doc.constraints_version or '') ~= want.version end",
      'return false end',
      'a job that waits keeps its old tags',
    ],
    [
      "return not doc.terminating and (doc.constraints_version or '') ~= want.version end",
      "return (doc.constraints_version or '') ~= want.version end",
      'a shutdown run waits to be tagged',
    ],
    [
      'if #keys == #members and #members <= step then return #want.stale > 0, from - removed, removed end',
      'if #keys == #members and #members <= step then return false, from - removed, removed end',
      'a lane leaves jobs that must be tagged again',
    ],
  ),
  ...of(
    28,
    'lib/run/ops/on_records.lua',
    [
      '  cache.change(id, doc, fields.constraints_version, OUTDATED .. time.sequence())\n',
      '',
      'a renamed job keeps the limits of its former class',
    ],
    [
      'if field == fields.args and doc.constraints_version then',
      'if false then',
      'a job keeps the limits of its former args',
    ],
  ),
  ...of(28, 'lib/run/ops/of_callers.lua', [
    "if seen and seen ~= (doc.constraints_version or '') then return end",
    '',
    'a late tag overwrites a newer tag',
  ]),
  ...of(28, 'lib/limit/assign.lua', [
    '  cache.change(id, doc, fields.constraints_version, version)\n',
    '',
    'a job is tagged forever',
  ]),
  ...of(
    28,
    'scripts/constraint.lua',
    ['hints.set { version = all.version }', "hints.set { version = '' }", 'lanes do not learn of changed constraints'],
    ['numbers.int(tonumber(all.version) + 1)', "'1'", 'only the first change is noticed'],
    ["opening.go_on('0:' .. name)", '', 'jobs waiting by an old constraint still wait'],
  ),
  ...of(
    28,
    'lib/limit/opening.lua',
    ['limits.save(key, limit_fields.open, 1)', '', 'a limit of an old constraint stays full'],
    [
      'if settings.constraints_version ~= version then',
      'if true then',
      'a limit that a job has set again opens, and admits too many jobs',
    ],
    [
      "limits.save(key, limit_fields.reordering, '0')",
      '',
      'jobs of an old constraint wait at a limit that a job has set again',
    ],
    ["  if cursor ~= '0' then cache.zset(", '  if false then cache.zset(', 'only the first limits are opened'],
    ['cost > SLICE', 'false', 'a change opens all limits at once'],
  ),
  ...of(28, 'lib/limit/assign.lua', [
    "key:find('^constraint:') and doc.constraints_version or nil",
    'nil',
    'a limit does not know which constraints have set it',
  ]),
  ...of(28, 'lib/limit/limits.lua', [
    "    limits.save(key, limit_fields.reordering, '0')\n",
    '',
    'the rest of the jobs of an old constraint wait at a limit that closes',
  ]),
  ...of(28, 'lib/queue/resort.lua', [
    'if version and doc.constraints_version ~= version then',
    'if false then',
    'jobs of an old constraint stay at a limit of the new constraint',
  ]),
  ...of(28, 'scripts/tick.lua', [
    'if opening_rest then opening.go_on(opening_rest) end\n',
    '',
    'ticks do not open the limits of a changed constraint',
  ]),
  ...of(
    127,
    'lib/limit/limits.lua',
    ['settings.waiting + n\n', 'settings.waiting\n', 'a limit does not report the number of waiting jobs'],
    ['not settings or not settings.waiting', 'not settings', 'unknown numbers are counted'],
    ['waiting > 0 and time.now or nil', 'time.now', 'a limit reports a wait start without waiting jobs'],
    ['(settings.waiting == 0) ~= (waiting == 0)', 'true', 'a later job shortens the recorded wait'],
  ),
  ...of(
    127,
    'lib/limit/waiting.lua',
    [
      '          if not waiter and settings.waiting ~= 0 then limits.save(key, limit_fields.waiting, 0) end\n',
      '',
      'an unknown value is never known again',
    ],
    [
      '          if settings.running ~= running then limits.save(key, limit_fields.running, running) end\n',
      '',
      'the number of runs is missing',
    ],
    ["rawget(state, 'taken') or ", '', 'the number of runs is from the start of the first wait'],
    [
      "rawget(state, 'taken') or settings.running or state.taken",
      "rawget(state, 'taken')",
      'the number of runs is missing for a paused limit',
    ],
  ),
  ...of(127, 'lib/job/places.lua', [
    '    limits.count_waiting(doc.queue, doc.waiting_limit, -1)\n',
    '',
    'a job that no longer waits at a limit is counted there',
  ]),
]
