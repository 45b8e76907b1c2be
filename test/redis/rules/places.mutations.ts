import { of } from '../mutation.ts'

export const mutations = [
  ...of(14, 'lib/job/places.lua', [
    '  if was then places.leave(id, doc, keeps) end\n',
    '',
    'a job keeps its old place',
  ]),
  ...of(14, 'lib/run/ops/on_records.lua', [
    'cache.zset(places.index_of(doc), places.member_of(me.id, doc), order.score(doc))',
    "cache.zset(redis_keys.queue(doc.queue, 'ready'), me.id, order.score(doc))",
    'a new priority puts the job into the queue twice',
  ]),
  ...of(15, 'lib/job/ending.lua', [
    '  if doc.place == PLACE.leased then\n    cache.change(id, doc, fields.terminating, TERMINATING.asked)',
    '  if false then\n    cache.change(id, doc, fields.terminating, TERMINATING.asked)',
    'a running job is terminated at once',
  ]),
  ...of(15, 'lib/family/trees.lua', [
    "  if doc.terminating then journal.refuse('WRONG_STATUS', 'job ' .. id .. ' is terminating') end\n",
    '',
    'a terminating job adopts',
  ]),
  ...of(
    15,
    'lib/job/ending.lua',
    [
      "        cache.change(member, member_doc, fields.delete_requested, '1')\n        waiting = true\n",
      '        waiting = true\n',
      'a job to be deleted stays when its run has ended',
    ],
    [
      "    cache.change(id, doc, fields.delete_requested, '1')\n    return 'ending'\n",
      "    return 'ending'\n",
      'a tree to be deleted loses only its leaves',
    ],
  ),
  ...of(
    15,
    'lib/job/create.lua',
    [
      'if parent_doc and parent_doc.terminating and not born then journal.refuse',
      'if false then journal.refuse',
      'a terminating job gets a child from outside',
    ],
    [
      'if parent_doc and parent_doc.terminating then\n',
      'if false then\n',
      'a child of a terminating job is not terminated',
    ],
  ),
  ...of(
    15,
    'scripts/extend.lua',
    ["(doc.terminating == TERMINATING.asked and '!' or '')", "''", 'a lane never learns of a termination'],
    [' and not is_ending then', ' then', 'a run never learns of the termination of its job'],
  ),
  ...of(15, 'lib/job/rerun.lua', [
    '  cache.change(id, doc, fields.delete_requested, nil)\n',
    '',
    'a restored job is removed anyway',
  ]),
  ...of(
    15,
    'lib/run/finish.lua',
    [
      '  if doc.terminating then return ending.terminate_now(id, doc) end\n',
      '',
      'a commit loses the termination of the job',
    ],
    [
      "if run.ending == 'checkpoint' and doc.terminating == TERMINATING.asked then",
      'if false then',
      'a run of a terminating job continues by checkpoints',
    ],
  ),
  ...of(15, 'lib/job/ending.lua', [
    '  if doc.has_shutdown then\n    cache.change(id, doc, fields.terminating, TERMINATING.asked)\n',
    '  if true then\n    cache.change(id, doc, fields.terminating, TERMINATING.asked)\n',
    'a released job without a shutdown hook does not end',
  ]),
  ...of(
    15,
    'lib/run/retry.lua',
    ['if ending.ends_after_release(id, doc)', 'if false', 'a job without a shutdown hook gets a shutdown run'],
    [
      '  if doc.terminating then return ending.terminate_now(id, doc) end\n  if doc.redeliver_after then',
      '  if doc.redeliver_after then',
      'a lost run loses the termination of the job',
    ],
  ),
  ...of(15, 'lib/job/queueing.lua', [
    'if doc.terminating or doc.held or doc.place == PLACE.failed or doc.place == PLACE.terminated then return false end',
    'if doc.held or doc.place == PLACE.failed or doc.place == PLACE.terminated then return false end',
    'input wakes a job that is terminating',
  ]),
  ...of(15, 'lib/job/ending.lua', [
    '  if doc.has_shutdown then\n    local was',
    '  if false then\n    local was',
    'no shutdown run takes place',
  ]),
  ...of(
    16,
    'lib/job/rerun.lua',
    [
      '  rerun.spare(id, doc)\n  cache.clear(id, doc, { fields.ended_at',
      '  cache.clear(id, doc, { fields.ended_at',
      'force does not bring a terminating job back',
    ],
    [
      'if doc.place == PLACE.failed then cache.change(id, doc, fields.failures, nil) end',
      '',
      'a failed job still counts its attempts',
    ],
  ),
  ...of(
    16,
    'lib/run/ops/on_jobs.lua',
    ['  if stopped and not force then\n', '  if false then\n', 'any run wakes a terminated job'],
    ['if doc.terminating == TERMINATING.asked then rerun.spare(id, doc) end', '', 'force during a run is forgotten'],
  ),
  ...of(16, 'lib/run/finish.lua', [
    '    if own and not doc.gone then\n',
    '    if false then\n',
    'force during the shutdown run is forgotten',
  ]),
  ...of(16, 'lib/job/ending.lua', [
    '  if doc.place == PLACE.terminated or doc.terminating then return end\n',
    '  if states.resting[doc.place] or doc.terminating then return end\n',
    'a job at rest cannot be terminated',
  ]),
  ...of(17, 'lib/run/claim.lua', [
    'if doc.not_before and tonumber(doc.not_before) <= time.now then cache.change(id, doc, fields.not_before, nil) end',
    'cache.change(id, doc, fields.not_before, nil)',
    'an early run clears a later time',
  ]),
  ...of(
    17,
    'lib/job/queueing.lua',
    [
      'math.max(moment, tonumber(doc.backoff_until) or 0, tonumber(doc.lock_until) or 0)',
      'math.max(moment, tonumber(doc.lock_until) or 0)',
      'input shortens a backoff',
    ],
    [
      'math.max(moment, tonumber(doc.backoff_until) or 0, tonumber(doc.lock_until) or 0)',
      'math.max(moment, tonumber(doc.backoff_until) or 0)',
      'input shortens a lock',
    ],
    [
      '  elseif doc.place == PLACE.timers then\n    queueing.enqueue(id, doc, true)\n',
      '  elseif doc.place == PLACE.timers then\n    queueing.enqueue(id, doc)\n',
      'input does not wake a job that waits for a time',
    ],
    [
      "if early then cache.change(id, doc, fields.wanted_early, '1') end",
      '',
      'input during a backoff is lost if the job has a later time',
    ],
  ),
  ...of(17, 'lib/run/finish.lua', [
    '  if not waiting and (doc.not_before or doc.next_slot or doc.sleep_until) then\n',
    '  if not waiting and doc.next_slot then\n',
    'a commit loses the next time of a job',
  ]),
  ...of(17, 'lib/queue/resort.lua', [
    'if doc and doc.place == place then\n      places.move(id, doc, sides.of(doc), nil, nil, true)\n',
    "if doc and doc.place == place then\n      places.move(id, doc, doc.not_before and 't' or sides.of(doc), tonumber(doc.not_before), nil, true)\n",
    'a registration makes an early job wait again',
  ]),
  ...of(
    17,
    'lib/run/ops/on_records.lua',
    [
      'if doc.place == PLACE.timers or (not doc.place and postponed) or',
      'if doc.place == PLACE.timers or (not doc.place and (tonumber(doc.not_before) or 0) > time.now) or',
      'a new priority makes an early job wait again',
    ],
    [
      'if doc.place == PLACE.pull and queueing.own_moment(doc) > time.now then',
      'if false then',
      'a new slot makes an early job of a pull worker wait again',
    ],
    [' and moved and not doc.wanted_early)', ' and moved)', 'a new slot takes the turn of an early job'],
    [
      '  if postponed then cache.change(me.id, doc, fields.wanted_early, nil) end\n',
      '',
      'a new time does not postpone an early job of a pull worker',
    ],
  ),
  ...of(
    18,
    'lib/run/claim.lua',
    ['if states.is_locked(doc) then return queueing.enqueue(id, doc, true) end', '', 'a locked job is leased'],
    [
      'if states.is_locked(doc) then return queueing.enqueue(id, doc, true) end',
      'if states.is_locked(doc) then return queueing.enqueue(id, doc) end',
      'a locked job forgets that it was ready',
    ],
    [
      'states.is_ready(doc) and not states.is_locked(doc) then',
      'states.is_ready(doc) then',
      'a locked job is leased to a claim by its id',
    ],
  ),
  ...of(
    18,
    'lib/run/ops/of_callers.lua',
    [
      "if doc.place == PLACE.leased then journal.refuse('BUSY'",
      "if false then journal.refuse('BUSY'",
      'a running job is locked',
    ],
    [
      "if states.is_locked(doc) then journal.refuse('BUSY'",
      "if false then journal.refuse('BUSY'",
      'a lock is taken from its holder',
    ],
    ['or doc.lock_token ~= token then', 'then', 'any caller can unlock a job'],
    ['  if doc.place == PLACE.timers then queueing.enqueue(me.id, doc) end\n', '', 'an unlocked job still waits'],
  ),
]
