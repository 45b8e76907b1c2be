import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    97,
    'lib/queue/class_counts.lua',
    ['      if lines >= MOST then', '      if false then', 'a text grows with every class'],
    ['      if not line then lines = lines + 1 end\n', '', 'a text grows with every class of one call'],
    ['size_of(beside) >= MOST_BESIDE', 'false', 'counts in the queue’s document grow with every class'],
    [
      'if text and not is_of_today then cache.set_text',
      'if false then cache.set_text',
      'counts by class of a day are lost when it ends',
    ],
    [
      'class_counts, not is_read and text or nil)',
      'class_counts, not is_read and text or beside)',
      'counts in the queue’s document are counted again',
    ],
    [' .. padded:sub(kept, #line)', '', 'the counts after the last increased count are lost'],
    ['padded:sub(kept, from - 1) .. numbers', 'numbers', 'the counts between two increased counts are lost'],
    ['while ends[bucket] and ms > ends[bucket] do bucket = bucket + 1 end', '', 'all runs are in the first bucket'],
    ['(of[at] or 0) + ms * n', '(of[at] or 0) + ms', 'the duration of a piece counts for only one of its jobs'],
    [
      'math.max(0, began - time.moment',
      'math.max(0, time.now - time.moment',
      'the duration of a run counts as waiting time',
    ],
  ),
  ...of(97, 'lib/queue/counts.lua', [
    'if class then class_counts.add',
    'if false then class_counts.add',
    'no event is counted by class',
  ]),
  ...of(
    128,
    'lib/queue/class_counts.lua',
    [
      "'k' .. hour % class_counts.HOURS), hour .. '\\n' .. text)",
      "'k' .. hour % class_counts.HOURS), hour .. '\\n' .. with(text, of))",
      'the first counts of an hour belong to the previous hour',
    ],
    [
      '      cache.change_queue(q, queue_fields.class_hour, hour)\n',
      '',
      'each count of an hour replaces earlier counts',
    ],
    ['cache.queue(q).class_hour ~= hour', 'not cache.queue(q).class_hour', 'all counts belong to the first hour'],
    ['hour % class_counts.HOURS', 'hour', 'the number of texts grows with each hour'],
    ['is_read = is_first or cache.raw', 'is_read = cache.raw', 'counts in the queue’s document belong to another hour'],
  ),
  ...of(128, 'queries/classes.lua', [
    'most_bytes > 0 and left >= 0',
    'most_bytes > 0',
    'hours of any number of queues are read',
  ]),
]
