import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    19,
    'scripts/commit.lua',
    ['moved = due.timers(queue_name) + ', 'moved = ', 'a claim does not check its timers'],
    [
      'math.min(served.next_timer or numbers.never, lanes.next_room(queue_name))',
      'numbers.never',
      'a claim does not report the next due time',
    ],
  ),
  ...of(
    19,
    'lib/queue/bells.lua',
    [
      'moment <= time.now + lanes.MINUTE and not (queue_record.timer_bell',
      'false and not (queue_record.timer_bell',
      'no bell rings for a timer',
    ],
    ['local room = lanes.next_room(q)', 'local room = numbers.never', 'no bell rings for a free slot at a limit'],
    ['lanes.count(q) > 0 or room <=', 'room <=', 'a bell rings for a free slot although a lane serves the queue'],
    ['room <= (lanes.waits_until[q] or 0)', 'false', 'a bell rings for a slot that a lane waits for'],
  ),
  ...of(
    19,
    'lib/queue/lanes.lua',
    [
      'math.max(time.now, queue_record.next_timer - lanes.MINUTE))',
      'queue_record.next_timer)',
      'the tick does not ring for a timer of the next minute',
    ],
    [
      'rung and queue_record.next_timer + lanes.BELL or',
      'rung and numbers.never or',
      'a timer whose bell was lost is forgotten',
    ],
  ),
  ...of(19, 'lib/runtime/cache.lua', [
    'for _, score in pairs(cache.writes.zsets[key] or {}) do moment',
    'for _, score in pairs({}) do moment',
    'a timer of this very commit is forgotten',
  ]),
  ...of(19, 'lib/queue/due.lua', [
    'and cache.next_moment(key, time.now) or time.now',
    'and cache.next_moment(key, time.now) or numbers.never',
    'timers after the first thousand are forgotten',
  ]),
  ...of(
    20,
    'lib/job/places.lua',
    ['if field then', 'if field and doc.place ~= PLACE.leased then', 'no check happens when a lease ends'],
    [
      'if field then',
      'if field and not (doc.place == PLACE.timers and cache.queue(doc.queue).next_timer) then',
      'an earlier timer is seen too late',
    ],
  ),
  ...of(
    20,
    'lib/queue/lanes.lua',
    [
      '  for _, till in pairs(queue_record.lanes) do moment = math.min(moment, till) end\n',
      '',
      'no check happens when a lane is dead',
    ],
    [
      'or math.min(queue_record.next_lease or numbers.never, queue_record.next_removal or numbers.never)',
      'or (queue_record.next_removal or numbers.never)',
      'a lease is not in the index',
    ],
    [
      'if moment < (queue_record.wake_at or numbers.never) then',
      'if moment < numbers.never and not queue_record.wake_at then',
      'the index keeps the first moment, not the earliest',
    ],
  ),
  ...of(20, 'lib/runtime/cache.lua', [
    'for _, score in pairs(cache.writes.zsets[key] or {}) do moment',
    'for _, score in pairs({}) do moment',
    'a timer that another queue’s end set is forgotten',
  ]),
  ...of(
    20,
    'scripts/tick.lua',
    ["  cache.zset(wake_key, 'q:' .. q, false)\n", '', 'a queue without future events stays in the index'],
    ['#members == most', 'false', 'a tick that skipped queues reports that it is done'],
  ),
  ...of(
    21,
    'lib/run/tokens.lua',
    ['.. mark .. issued', ".. 'n' .. issued", 'tokens are equal after a failover'],
    ['.. mark .. issued', '.. mark', 'the tokens of one claim share their nonce'],
  ),
  ...of(21, 'lib/runtime/store.lua', [
    '  if not ok then undo_pushes(why) end\nend\n',
    "  if not ok then undo_pushes(why) end\n  for i = 1, #sets, 2 do redis.call('PEXPIRE', sets[i], 86400000) end\nend\n",
    'documents expire by themselves',
  ]),
  ...of(22, 'lib/runtime/store.lua', [
    'doc.place ~= PLACE.terminated and (tonumber(doc.next_slot) or numbers.never)',
    'tonumber(doc.next_slot) or numbers.never',
    'a terminated job stays among the schedules',
  ]),
  ...of(
    22,
    'lib/run/retry.lua',
    [
      'if doc.next_slot and not (values.get_value',
      'if false and not (values.get_value',
      'a final failure ends the repeat',
    ],
    ['\'"stopOnFail":true\'', "'never'", 'a repeat to be stopped continues'],
  ),
  ...of(
    22,
    'lib/run/slots.lua',
    [
      'if not run.slot or is_moved or doc.terminating == TERMINATING.shutdown then return end',
      'if true then return end',
      'every run is for the same slot',
    ],
    [' or is_moved or', ' or', 'a run overwrites the slot that a caller set'],
    [' or doc.terminating == TERMINATING.shutdown then return end', ' then return end', 'a shutdown run uses a slot'],
    ['time.now + CATCH_UP', 'time.now', 'missed slots run without a delay'],
    ['  cache.change(id, doc, fields.slot_missed, nil)\n', '', 'a missed slot marks later slots'],
    ['  if run.passed then cache.change', '  if false then cache.change', 'missed slots are not recorded'],
    ['  cache.change(id, doc, fields.ran_at, doc.previous_ran_at)\n', '', 'a skipped slot counts as a run'],
  ),
  ...of(
    22,
    'lib/run/ops/on_records.lua',
    ['if (postponed or scheduled) and rests(doc) then', 'if false then', 'a job at rest ignores its schedule'],
    [' or doc.waits_for or doc.followed', '', 'a schedule runs a job that waits for its children'],
    ['    rerun.wake_up(me.id, doc)\n', '', 'a job that waits for its slot has ended'],
  ),
  ...of(
    22,
    'lib/run/retry.lua',
    ['    slots.set_times(id, doc, run)\n', '', 'a failed slot is repeated at once'],
    [
      'cache.count(id, doc, fields.failed_in_a_row)',
      "cache.change(id, doc, fields.failed_in_a_row, '1')",
      'the number of consecutive failures of a schedule is missing',
    ],
  ),
  ...of(22, 'lib/run/finish.lua', [
    '    cache.change(id, doc, fields.failed_in_a_row, nil)\n',
    '',
    'a success counts as a consecutive failure',
  ]),
  ...of(22, 'lib/run/finish.lua', [
    '  if not waiting and (doc.not_before or doc.next_slot or doc.sleep_until) then\n',
    '  if not waiting and doc.not_before then\n',
    'a repeat runs once',
  ]),
  ...of(
    22,
    'lib/run/retry.lua',
    [
      '{ fields.failures, fields.deliveries, fields.lost_in_a_row }',
      '{ fields.deliveries, fields.lost_in_a_row }',
      'the attempts of one slot count for the next',
    ],
    [
      '{ fields.failures, fields.deliveries, fields.lost_in_a_row }',
      '{ fields.failures, fields.deliveries }',
      'the lost runs of one slot count for the next',
    ],
    ["cache.change(id, doc, fields.slot_missed, 'l')", '', 'a lost slot is repeated at once'],
    [' and doc.ran_at - doc.next_slot >= 0 then', ' then', 'a run that began before the slot loses the slot'],
    ['    ending.clear_steps(id, doc)\n', '', 'the steps of one slot are used in the next'],
  ),
  ...of(
    22,
    'lib/run/claim.lua',
    [
      'local used_up = { fields.input_during_run, fields.child_during_run, fields.backoff_until, fields.wanted_early, fields.unanswered, fields.said_ended_at }',
      'local used_up = { fields.input_during_run, fields.child_during_run, fields.backoff_until, fields.wanted_early, fields.unanswered, fields.said_ended_at, fields.next_slot }',
      'any run takes the slot',
    ],
    [
      'if doc.catch_up_at and (tonumber(doc.next_slot) or numbers.never) <= time.now then',
      'if false then',
      'an outage counts as a runaway',
    ],
    [
      'if doc.catch_up_at and (tonumber(doc.next_slot) or numbers.never) <= time.now then',
      'if doc.next_slot then',
      'nothing stops a runaway that repeats',
    ],
  ),
  ...of(
    22,
    'lib/job/queueing.lua',
    ['if doc.catch_up_at and not sides.of(doc) then', 'if doc.catch_up_at then', 'pull workers wait for missed slots'],
    ['    cache.change(id, doc, fields.slot_missed, nil)\n', '', 'input waits for the next slot'],
  ),
  ...of(
    22,
    'lib/queue/due.lua',
    ['time.now - doc.next_slot > SLOT_GRACE', 'false', 'no slot is missed'],
    [' > SLOT_GRACE and not doc.wanted_early', ' > SLOT_GRACE', 'a requested run is skipped'],
    ['time.now - doc.next_slot > SLOT_GRACE', 'time.now > tonumber(doc.next_slot)', 'a slot is missed at once'],
    ['\'"missed":"skip"\'', "'missed'", 'slots of every schedule are skipped'],
  ),
  ...of(22, 'lib/run/ops/on_records.lua', [
    'if ended and doc.place == PLACE.timers and has_no_run_left(doc) then',
    'if false then',
    'a schedule that ends runs once more',
  ]),
]
