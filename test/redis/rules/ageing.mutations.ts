import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    37,
    'lib/queue/order.lua',
    ['return ageing and priority * ageing + moment or priority', 'return priority', 'waiting jobs do not age'],
    ['priority * ageing + moment', 'priority + moment', 'a level of priority counts as one millisecond'],
    [
      "doc.waiting_limit and doc.waiting_limit ~= 'group:' .. (doc.group or '') and math.floor(score / ageing)",
      'false',
      'groups take turns by the millisecond, not by the step',
    ],
    [
      " and doc.waiting_limit ~= 'group:' .. (doc.group or '') and",
      ' and',
      'jobs of a group are ordered by steps, not by milliseconds',
    ],
  ),
  ...of(37, 'lib/run/packed.lua', [
    'order.rank(q, spec.priority, math.floor((ticks + from) / 1000))',
    'spec.priority',
    'jobs created in one call precede all waiting jobs',
  ]),
  ...of(
    37,
    'lib/run/claim.lua',
    [' or queue_record.ageing or queue_record.reordering then', ' then', 'a claim for a priority gets no job'],
    [
      " and (want.tier == '' or tonumber(doc.priority or 0) == tonumber(want.tier))",
      '',
      'a claim for a priority gets jobs of any priority',
    ],
  ),
  ...of(37, 'lib/run/ops/on_records.lua', [
    'cache.zset(places.index_of(doc), places.member_of(me.id, doc), order.score(doc))',
    'cache.zset(places.index_of(doc), places.member_of(me.id, doc), tonumber(doc.priority) or 0)',
    'a new priority drops the waited time',
  ]),
  ...of(
    37,
    'lib/queue/resort.lua',
    ["{ r = 'p:0', p = 'w:0' }", "{ r = 'w:0', p = 'w:0' }", 'a job waiting for pull workers keeps its place'],
    ["{ r = 'p:0', p = 'w:0' }", "{ r = 'p:0' }", 'a job waiting at a limit keeps its place'],
    ["(is_left or further ~= '0') and here or", '', 'only the first of many jobs get their new places'],
    ['      turns.change_tier(id, doc)\n', '', 'a job waiting at a limit has the turn of another step'],
    [
      "  limits.save(key, limit_fields.reordering, further ~= '0' and further or nil)\n",
      '',
      'a limit is scanned forever',
    ],
    ['        limits.check_at(key, time.now)\n', '', 'limits are not checked'],
  ),
  ...of(37, 'lib/limit/waiting.lua', ['may_move = may_move - resort.go_on_at(key)', '', 'a limit keeps its old order']),
  ...of(37, 'lib/queue/lanes.lua', [
    'queue_record.reordering and time.now',
    'false and time.now',
    'no tick is scheduled for the rest of a queue',
  ]),
  ...of(37, 'scripts/tick.lua', ['  resort.go_on(q)\n', '', 'ticks do not continue the reordering of a queue']),
  ...of(37, 'scripts/commit.lua', [
    ' + resort.go_on(queue_name)',
    '',
    'claims do not continue the reordering of a queue',
  ]),
  ...of(37, 'scripts/settings.lua', [
    'if has_mode or has_ageing then',
    'if has_mode then',
    'a waiting job keeps its place',
  ]),
]
