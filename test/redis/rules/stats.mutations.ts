import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    82,
    'lib/queue/counts.lua',
    ['  if is_over then keep_day(q, queue_record) end\n', '', 'the counts of an ended day are lost'],
    ['  cache.change_queue(q, queue_fields.counts, {})\n', '', 'today never ends'],
    [
      'cache.change_queue(q, queue_fields.earlier_counts, add_counts(queue_record.earlier_counts or {}, queue_record.counts))',
      '',
      'the total equals the sum of today',
    ],
    [
      "local kept = text and readable.decode(text, key .. ' ' .. field) or {}",
      'local kept = {}',
      'a queue forgets the days of other queues',
    ],
    ['do cache.hset(key, numbers.int(old), false) end', 'do end', 'days are kept forever'],
    ['  cache.change_queue(q, queue_fields.minute, minute)\n', '', 'a minute restarts with each count'],
    ['math.floor(queue_record.minute / 60) ~= hour', 'false', 'hours are not reported'],
    ['  cache.change_queue(q, queue_fields.minute_wait, nil)\n', '', 'a wait is reported for every later minute'],
    ['  cache.change_queue(q, queue_fields.day_waits, nil)\n', '', 'waits of yesterday count for today'],
    ['histogram[at] = histogram[at] + n', 'histogram[at] = histogram[at]', 'no wait is counted'],
    ['kind .. moment % most', 'kind .. moment', 'places of old minutes are not reused'],
  ),
  ...of(82, 'scripts/commit.lua', [
    'if ids[1] then counts.waited',
    'if false then counts.waited',
    'no wait is reported',
  ]),
]
