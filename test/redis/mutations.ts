// Each rule of the scripts, taken out by a small change to a Lua file, with the wrong behaviour. The facts of the
// rule must notice. Rules about TypeScript are not here: taking back an unpublished bell (2), waiting in a
// dispatcher for soon-due jobs (19), and computing the next slot (22) are only facts.

import type { Fault } from './broken.ts'

export type Mutation = Fault & { rule: number }

type Change = [find: string, replace: string, says: string]

const of = (rule: number, file: string, ...changes: Change[]): Mutation[] =>
  changes.map(([find, replace, says]) => ({ rule, file, find, replace, says }))

const lanes: Mutation[] = [
  ...of(
    1,
    'scripts/commit.lua',
    [
      '    lanes.set(queue_name, bell, nil)\n    cache.set_text',
      '    cache.set_text',
      'a bell keeps its place next to its lane',
    ],
    ['if last and last == seq then', 'if false then', 'a repeated request does everything again'],
    ['if last and (last > seq or', 'if last and (', 'an old request is served'],
    [
      'if not there[lane] and not lanes.has_room(queue_name) then',
      'if false then',
      'there are more lanes than the queue may have',
    ],
    [
      "if not laned or word == 'empty' or word == 'full' then cache.set_expiring(lane_key, record, lanes.MINUTE) else",
      "if word == 'empty' then cache.set_expiring(lane_key, record, 1) else",
      'the answers of a lane that has left are forgotten',
    ],
  ),
  ...of(1, 'lib/run/claim.lua', [
    'if (doc and doc.token == token) or',
    'if (doc and doc.token) or',
    'a repeated request gets runs that other lanes hold now',
  ]),
  ...of(
    2,
    'lib/queue/bells.lua',
    ['    lanes.set(q, bell, time.now + lanes.BELL)\n', '', 'a bell on its way does not count'],
    ['or math.min(most, math.ceil(', 'or math.min(1000, math.ceil(', 'more bells ring than there may be lanes'],
    ['math.ceil(ready / batch)) - there', 'math.min(ready, 1)) - there', 'one bell rings, however much is ready'],
  ),
  ...of(
    2,
    'lib/queue/lanes.lua',
    ['lanes.BELL = 20000', 'lanes.BELL = 45000', 'a lost bell costs a lane’s time'],
    ['    if till <= time.now then\n', '    if false then\n', 'lanes and bells never expire'],
  ),
  ...of(2, 'scripts/extend.lua', [
    'lanes.set(queue_name, lane, time.now + lease)',
    'lanes.set(queue_name, lane, cache.queue(queue_name).lanes[lane])',
    'a lane that extends its leases expires',
  ]),
  ...of(
    2,
    'scripts/commit.lua',
    [
      '  lanes.set(queue_name, lane, time.now + (lease > 0 and lease or lanes.LANE))\n',
      '  lanes.set(queue_name, lane, cache.queue(queue_name).lanes[lane] or time.now + lease)\n',
      'a continuing lane expires',
    ],
    [
      "    places.to_ring[queue_name] = tally.count(queue_name, 'ready') - lent\n",
      '    places.to_ring[queue_name] = nil\n',
      'a lane with more work than it can take calls no further lane',
    ],
  ),
  ...of(2, 'lib/run/ops/of_callers.lua', [
    'if cache.queue(name).lanes[bell] then lanes.set(name, bell, nil) end',
    '',
    'a bell that was never sent keeps its place',
  ]),
  ...of(
    3,
    'scripts/commit.lua',
    ['(#ids == 0 and not more)', '#ids == 0', 'a lane leaves although it has not seen everything'],
    [
      'lanes.next_room(queue_name) <= time.now + lanes.LANE and 1 or 0',
      '0',
      'a lane that leaves forgets jobs waiting for a rate',
    ],
    [
      'lanes.next_room(queue_name) <= time.now + lanes.LANE and',
      'lanes.next_room(queue_name) < numbers.never and',
      'a lane follows for a moment that is far',
    ],
    [
      "if leave ~= '' then places.to_ring[queue_name]",
      'if false then places.to_ring[queue_name]',
      'no lane follows an expired lane',
    ],
  ),
  ...of(3, 'lib/run/claim.lua', [
    'local MAX_SCAN = 1000',
    'local MAX_SCAN = 10000',
    'a lane goes through everything, however much it is',
  ]),
  ...of(3, 'lib/job/queueing.lua', [
    '  places.move(id, doc, place, nil,',
    '  places.move(id, doc, nil, nil,',
    'jobs of pull workers stay in the ready list',
  ]),
  ...of(3, 'lib/queue/sides.lua', [
    '(tag or queue_record.mode ==',
    '(queue_record.mode ==',
    'a job with a tag waits for lanes, which ask for none',
  ]),
  ...of(3, 'lib/job/create.lua', [
    '  if doc.tag and not sides.of(doc.queue, doc.class) then\n',
    '  if false then\n',
    'a tag is taken for a class that is called',
  ]),
  ...of(3, 'lib/queue/moving.lua', [
    "further = 'p:0:' .. moved",
    'further = nil',
    'jobs that wait for pull workers are forgotten when a push worker takes over',
  ]),
  ...of(4, 'lib/queue/bells.lua', ['  work.conclude()\n', '', 'the last woken queue gets no bell']),
  ...of(4, 'scripts/commit.lua', [
    'bells.ring_all()\n',
    'places.to_ring = { [queue_name] = places.to_ring[queue_name] }\nbells.ring_all()\n',
    'only the own queue is rung for',
  ]),
]

const runs: Mutation[] = [
  ...of(
    5,
    'lib/run/finish.lua',
    [
      'doc.token ~= run.token or tonumber(doc.lease_until) <= time.now',
      'doc.token ~= run.token',
      'a run commits after its lease',
    ],
    [
      'doc.token ~= run.token or tonumber(doc.lease_until) <= time.now',
      'tonumber(doc.lease_until or 0) <= time.now',
      'any token commits',
    ],
  ),
  ...of(5, 'scripts/extend.lua', [
    'tonumber(doc.lease_until) > time.now and not is_ending',
    'not is_ending',
    'a lease that has ended is extended',
  ]),
  ...of(5, 'lib/run/tokens.lua', [
    "id .. '.' .. run .. '.' .. repeats .. mark .. lent",
    "id .. '.1.constant00000'",
    'a job has one token for all of its runs',
  ]),
  ...of(
    6,
    'lib/run/finish.lua',
    [
      'if token == run.token and tonumber(n) == run.n then return answer end',
      'if token == run.token then return answer end',
      'the last commit is taken for a repeated checkpoint',
    ],
    ["if run.n < (tonumber(doc.next_commit) or 0) then return 'lost' end", '', 'an old checkpoint is taken again'],
    ['  leases.extend(id, doc, run.lease or lanes.LANE)\n', '', 'a checkpoint does not extend the lease'],
    [' else ending.clear_steps(id, doc) end\n', ' end\n', 'steps are never forgotten'],
    [
      '  if run.paused then set_pause(id, doc, run) else ending.clear_steps',
      '  if run.paused then set_pause(id, doc, run) ending.clear_steps(id, doc) else ending.clear_steps',
      'a pause forgets the steps',
    ],
    [
      '  cache.change(id, doc, fields.sleep_until, run.till)\n',
      '  if run.till then cache.change(id, doc, fields.sleep_until, run.till) end\n',
      'the moment of one pause holds for the next',
    ],
    [' or doc.sleep_until) then\n', ') then\n', 'a pause lasts until a run is requested'],
    [
      '  cache.change(id, doc, fields.awaited_children, run.awaits[1] and cjson.encode(run.awaits) or nil)\n',
      '',
      'a pause ends with every run of a child',
    ],
  ),
  ...of(6, 'lib/run/retry.lua', [
    "  counts.add(doc.queue, doc.class, 'errors')\n",
    "  counts.add(doc.queue, doc.class, 'errors')\n  ending.clear_steps(id, doc)\n",
    'steps are forgotten when a run fails',
  ]),
  ...of(
    6,
    'lib/job/ending.lua',
    [
      'if place ~= PLACE.failed then ending.clear_steps(id, doc) end',
      'ending.clear_steps(id, doc)',
      'steps are forgotten when the job fails',
    ],
    [
      'function ending.clear_steps(id, doc)\n  if doc.sleep_until then cache.change(id, doc, fields.sleep_until, nil) end\n',
      'function ending.clear_steps(id, doc)\n',
      'a job that has slept runs again after its end',
    ],
  ),
  ...of(
    6,
    'lib/job/queueing.lua',
    [
      '  if parent_doc.awaited_children and not has_ended then return end\n',
      '',
      'every run of a child ends a pause for its end',
    ],
    [', tonumber(doc.sleep_until) or numbers.never)', ')', 'a pause is over at once'],
  ),
  ...of(6, 'lib/family/kin.lua', [
    "  if doc and doc.awaited_children and doc.place ~= PLACE.leased then queueing.wake(parent, doc, 'child') end\n",
    '',
    'a pause for a deleted child lasts forever',
  ]),
  ...of(
    6,
    'lib/run/snapshot.lua',
    [' or #flat > 2 * MAX_STEPS or', ' or', 'every run receives all steps'],
    [
      '    for _, name in ipairs(awaited) do see(name, cache.hget(kin.children_key(parent), name)) end\n',
      '    for i = 1, #children, 2 do see(children[i], children[i + 1]) end\n',
      'a pause receives children that it was not for',
    ],
  ),
  ...of(6, 'lib/run/finish.lua', [
    'if doc and doc.token == run.token then ids',
    'if doc then ids',
    'a repeated checkpoint shows the run of another worker',
  ]),
  ...of(
    7,
    'lib/port/ports.lua',
    ['if taken ~= cursor then journal.refuse', 'if false then journal.refuse', 'a value takes effect twice'],
    ['if n > pushed - taken then journal.refuse', 'if false then journal.refuse', 'more is read than there is'],
  ),
  ...of(7, 'lib/port/define.lua', [
    "numbers.int(pushed) .. ',' .. numbers.int(pushed) .. ',d')",
    "'0,0,d')",
    'a port that is made again counts from the beginning',
  ]),
  ...of(7, 'lib/port/ports.lua', [
    'ports.set_counts(id, doc, dir, port, pushed, taken + n)',
    'ports.set_counts(id, doc, dir, port, pushed - n, taken)',
    'a read is not counted',
  ]),
  ...of(
    8,
    'lib/run/finish.lua',
    [
      "cache.change(run.id, doc, fields.last_commit, run.token .. '|' .. numbers.int(run.n) .. '|' .. answer)",
      '',
      'a repeated commit finds nothing',
    ],
    [
      "if lane == '' then cache.set_expiring(erase.gone_key",
      'if false then cache.set_expiring(erase.gone_key',
      'the answer goes with the job',
    ],
  ),
  ...of(8, 'lib/family/erase.lua', ['  keep_answer(doc)\n', '', 'the answer goes when the job is deleted']),
  ...of(8, 'lib/run/claim.lua', [
    'local used_up = { fields.input_during_run, fields.child_during_run, fields.backoff_until, fields.wanted_early, fields.unanswered, fields.said_ended_at }',
    'local used_up = { fields.input_during_run, fields.child_during_run, fields.backoff_until, fields.wanted_early, fields.unanswered, fields.said_ended_at, fields.last_commit }',
    'the answer is forgotten at the next claim',
  ]),
  ...of(9, 'lib/run/finish.lua', [
    'ok, status = journal.isolate(run.id, ',
    'ok, status = pcall(',
    'a refused run keeps half of its changes',
  ]),
  ...of(9, 'lib/runtime/cache.lua', [
    '  journal.put(doc, field, value)\n',
    '  doc[field] = value\n',
    'a refused run keeps its changes of documents',
  ]),
  ...of(9, 'lib/runtime/lists.lua', [
    'for i = 1, math.min(n - #items, #list.push) do items[#items + 1] = list.push[i] end',
    '',
    'a run sees neither its own writes nor earlier ones',
  ]),
  ...of(9, 'lib/runtime/cache.lua', [
    'if waiting and waiting[field] ~= nil then return waiting[field] end',
    '',
    'a run does not see its own children',
  ]),
  ...of(29, 'lib/runtime/cache.lua', [
    'if cache.writes.strings[key] ~= nil then return cache.writes.strings[key] end',
    '',
    'a newly counted listener is unknown',
  ]),
  ...of(
    10,
    'lib/run/retry.lua',
    ["retryable[refusal.code] and run.retry or ''", "run.retry or ''", 'a permanent error is retried'],
    ["retryable[refusal.code] and run.retry or ''", "''", 'a name taken once fails forever'],
  ),
  ...of(10, 'lib/run/finish.lua', [
    '    status = retry.refused(run, status)\n',
    "    retry.conflict(run)\n    status = 'conflict'\n",
    'a refused run comes again at once, forever',
  ]),
  ...of(
    10,
    'lib/run/retry.lua',
    [
      '  if run.at then cache.change(id, doc, fields.backoff_until, numbers.int(run.at)) end\n',
      '',
      'a job of an unknown class comes back at once',
    ],
    [
      'fields.has_shutdown, nil) end\n  if ending.ends_after_release',
      "fields.has_shutdown, nil) end\n  cache.change(id, doc, fields.failures, '1')\n  if ending.ends_after_release",
      'a job of an unknown class uses up an attempt',
    ],
  ),
  ...of(
    11,
    'lib/run/backoff.lua',
    ['local AT_ONCE = 3', 'local AT_ONCE = 0', 'the first conflict backs off'],
    ['local AT_ONCE = 3', 'local AT_ONCE = 1000', 'conflicts repeat forever'],
  ),
  ...of(11, 'lib/run/retry.lua', [
    '{ by = run.by, version = run.version, again = not doc.terminating })\n  leases.uncount_run(id, doc)\n',
    '{ by = run.by, version = run.version, again = not doc.terminating })\n',
    'conflicts make a runaway',
  ]),
  ...of(11, 'lib/run/finish.lua', [
    '{ fields.failures, fields.lost_in_a_row, fields.conflicts_in_a_row, fields.last_error, fields.deliveries, fields.unanswered, fields.wait_over }',
    '{ fields.failures, fields.lost_in_a_row, fields.last_error, fields.deliveries, fields.unanswered, fields.wait_over }',
    'conflicts are counted over all runs',
  ]),
  ...of(11, 'lib/run/retry.lua', [
    '  leases.uncount_run(id, doc)\n  if doc.redeliver_after then',
    '  if doc.redeliver_after then',
    'lost runs make a runaway',
  ]),
  ...of(11, 'lib/run/claim.lua', ['if n > RUNS_A_MINUTE then return false end', '', 'nothing stops a runaway']),
  ...of(
    12,
    'lib/run/retry.lua',
    [
      '    cache.change(id, doc, fields.backoff_until, numbers.int(time.now + tonumber(delay)))\n',
      '',
      'a failed run comes again at once',
    ],
    [
      '    cache.change(id, doc, fields.backoff_until, numbers.int(time.now + tonumber(delay)))\n',
      '    if not doc.input_during_run then cache.change(id, doc, fields.backoff_until, numbers.int(time.now + tonumber(delay))) end\n',
      'input shortens the backoff of a failure',
    ],
    [
      '  cache.change(id, doc, fields.input_during_run, nil)\n  if doc.next_slot',
      '  local own = doc.input_during_run\n  cache.change(id, doc, fields.input_during_run, nil)\n  if own then\n    queueing.enqueue(id, doc, true)\n  elseif doc.next_slot',
      'input runs a job that has failed for good',
    ],
  ),
  ...of(12, 'lib/job/queueing.lua', [
    'if doc.terminating or doc.held or doc.place == PLACE.failed or doc.place == PLACE.terminated then return false end\n  if doc.place == PLACE.leased then',
    'if doc.terminating or doc.held or doc.place == PLACE.terminated then return false end\n  if doc.place == PLACE.failed then queueing.enqueue(id, doc, true) end\n  if doc.place == PLACE.leased then',
    'input wakes a failed job',
  ]),
  ...of(
    13,
    'lib/run/retry.lua',
    ['  if doc.begun then\n', '  if true then\n', 'a run that never began counts as lost'],
    ['if lost >= most_lost(doc) then', 'if false then', 'a job is lost forever'],
    ['return tonumber(doc.max_lost) or MAX_LOST end', 'return MAX_LOST end', 'every class is lost ten times'],
    ['lost > 0 and numbers.int(time.now + backoff.lost(lost)) or nil', 'nil', 'a lost job comes back at once'],
  ),
  ...of(
    13,
    'lib/run/claim.lua',
    ['if tonumber(doc.lost_in_a_row) > 1 then return 1 end', '', 'a job that was lost twice has company'],
    ['math.min(want.max, want.begun) / 2', 'math.min(want.max, want.begun)', 'lost jobs are claimed in whole batches'],
    ['math.min(want.max, want.begun) / 2', 'want.max / 2', 'lost jobs are claimed that do not begin'],
    [
      'math.max(1, math.floor(math.min(want.max',
      'math.max(0, math.floor(math.min(want.max',
      'one lost job stops a claim of one',
    ],
    [
      "if not doc.lost_in_a_row then return got.room and 'stop' end",
      'if not doc.lost_in_a_row then return end',
      'other jobs follow lost ones',
    ],
    ["  if got.room then return 'stop' end\n", '', 'pieces follow lost ones'],
    ['or (got.n > 0 and not got.room) then', 'then', 'a claim mixes lost jobs with fresh ones'],
    ['if got.fresh_first or (', 'if (', 'lost jobs have every turn'],
    [
      'if got.n == 0 and served and passed[1] then',
      'if false then',
      'lost jobs wait as long as their turn was the last',
    ],
    ['got.n > 0 and served ~= serves', 'not served and served ~= serves', 'other jobs have every turn'],
    ['more, seen = true, want.skip end', 'end', 'a claim that passed over lost jobs has seen everything'],
    [
      '  return true, from - removed, removed\n',
      '  return true, from, removed\n',
      'a pull worker skips jobs that no claim has seen',
    ],
    ['or removed > 0) and seen', ') and seen', 'a claim that only removed jobs is the last one'],
  ),
  ...of(13, 'lib/run/retry.lua', [
    '  if doc.redeliver_after then return redeliver(id, doc, tonumber(doc.lease_until)) end\n',
    '',
    'a lost run has no owner at once',
  ]),
  ...of(
    13,
    'lib/run/claim.lua',
    [
      'want.place == PLACE.pull and tonumber(doc.redeliver_after_ms) or want.lease',
      'tonumber(doc.redeliver_after_ms) or want.lease',
      'a lane has a run for another time',
    ],
    [
      '  if doc.max_deliveries and (tonumber(doc.deliveries)',
      '  if false and (tonumber(doc.deliveries)',
      'an unanswered run is leased forever',
    ],
  ),
  ...of(13, 'lib/run/leases.lua', [
    '  if doc.deliveries then cache.change(id, doc, fields.deliveries, numbers.int(tonumber(doc.deliveries) - 1)) end\n',
    '',
    'a job given back again and again fails like an unanswered one',
  ]),
  ...of(13, 'lib/run/finish.lua', [
    '  cache.change(id, doc, fields.deliveries, nil)\n  cache.change(id, doc, fields.next_commit',
    '  cache.change(id, doc, fields.next_commit',
    'a checkpoint is no answer',
  ]),
  ...of(13, 'lib/run/retry.lua', [
    '  cache.change(id, doc, fields.conflicts_in_a_row, numbers.int(n))\n  cache.change(id, doc, fields.deliveries, nil)\n',
    '  cache.change(id, doc, fields.conflicts_in_a_row, numbers.int(n))\n',
    'a conflict is no answer',
  ]),
  ...of(
    13,
    'scripts/extend.lua',
    [
      "    if own ~= '' then cache.change(id, doc, fields.lease_length, numbers.int(lease)) end\n",
      '',
      'a deferred answer gets a short lease after the first heartbeat',
    ],
    ["    cache.change(id, doc, fields.begun, '1')\n", '', 'a run that was extended has not begun'],
  ),
]

const places: Mutation[] = [
  ...of(14, 'lib/job/places.lua', [
    '  if was then places.leave(id, doc, keeps) end\n',
    '',
    'a job keeps its old place',
  ]),
  ...of(14, 'lib/run/ops/on_records.lua', [
    'cache.zset(places.index_of(doc), places.member_of(me.id, doc), order.score(doc))',
    "cache.zset(redis_keys.queue_key(doc.queue, 'ready'), me.id, order.score(doc))",
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
    ['if parent_doc and parent_doc.terminating then\n', 'if false then\n', 'a child of a terminating job lives on'],
  ),
  ...of(
    15,
    'scripts/extend.lua',
    [
      "(doc.terminating == TERMINATING.asked and '!' or '')",
      "''",
      'a lane never hears that a job of its runs is to end',
    ],
    [' and not is_ending then', ' then', 'a run never hears that its job is to end'],
  ),
  ...of(15, 'lib/job/rerun.lua', [
    '  cache.change(id, doc, fields.delete_requested, nil)\n',
    '',
    'a job that was brought back goes all the same',
  ]),
  ...of(
    15,
    'lib/run/finish.lua',
    [
      '  if doc.terminating then return ending.terminate_now(id, doc) end\n',
      '',
      'a commit forgets that the job is to end',
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
      '  if doc.terminating then return ending.terminate_now(id, doc) end\n  local lost',
      '  local lost',
      'a lost run forgets that the job is to end',
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
    'there is no shutdown run',
  ]),
  ...of(
    16,
    'lib/job/rerun.lua',
    [
      '  rerun.spare(id, doc)\n  cache.change(id, doc, fields.ended_at, nil)\n',
      '  cache.change(id, doc, fields.ended_at, nil)\n',
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
    'an early run clears a later appointment',
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
      'input during a backoff is forgotten for an appointment',
    ],
  ),
  ...of(17, 'lib/run/finish.lua', [
    '  if not waiting and (doc.not_before or doc.next_slot or doc.sleep_until) then\n',
    '  if not waiting and doc.next_slot then\n',
    'a commit forgets the appointment',
  ]),
  ...of(17, 'lib/queue/moving.lua', [
    '      places.move(id, doc, sides.of(q, doc.class, doc.tag), nil, nil, true)\n',
    "      places.move(id, doc, doc.not_before and 't' or sides.of(q, doc.class, doc.tag), tonumber(doc.not_before), nil, true)\n",
    'a registration sends an early job back',
  ]),
  ...of(
    17,
    'lib/run/ops/on_records.lua',
    [
      'if doc.place == PLACE.timers or (not doc.place and postponed) or',
      'if doc.place == PLACE.timers or (not doc.place and (tonumber(doc.not_before) or 0) > time.now) or',
      'a new priority sends an early job back',
    ],
    [
      'if doc.place == PLACE.pull and queueing.own_moment(doc) > time.now then',
      'if false then',
      'a new slot sends an early job of a pull worker back',
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
    [
      'if (tonumber(doc.lock_until) or 0) > time.now then return queueing.enqueue(id, doc, true) end',
      '',
      'a locked job is leased',
    ],
    [
      'if (tonumber(doc.lock_until) or 0) > time.now then return queueing.enqueue(id, doc, true) end',
      'if (tonumber(doc.lock_until) or 0) > time.now then return queueing.enqueue(id, doc) end',
      'a locked job forgets that it was ready',
    ],
    [
      '(doc.place and doc.place ~= PLACE.pull) or (tonumber(doc.lock_until) or 0) > time.now then',
      '(doc.place and doc.place ~= PLACE.pull) then',
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
      "if (tonumber(doc.lock_until) or 0) > time.now then journal.refuse('BUSY'",
      "if false then journal.refuse('BUSY'",
      'a lock is taken from its holder',
    ],
    ['or doc.lock_token ~= token then', 'then', 'anybody unlocks'],
    ['  if doc.place == PLACE.timers then queueing.enqueue(me.id, doc) end\n', '', 'an unlocked job waits on'],
  ),
]

const time: Mutation[] = [
  ...of(
    19,
    'scripts/commit.lua',
    ['moved = due.timers(queue_name) + ', 'moved = ', 'a claim does not look at its timers'],
    [
      'math.min(cache.queue(queue_name).next_timer or numbers.never, lanes.next_room(queue_name))',
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
    ['local room = lanes.next_room(q)', 'local room = numbers.never', 'no bell rings for room at a limit'],
    ['lanes.count(q) > 0 or room <=', 'room <=', 'room is rung for although a lane serves the queue'],
    ['room <= (lanes.waits_until[q] or 0)', 'false', 'room is rung for that a lane waits for'],
  ),
  ...of(
    19,
    'lib/queue/lanes.lua',
    [
      'math.max(time.now, queue_record.next_timer - lanes.MINUTE))',
      'queue_record.next_timer)',
      'a later timer is not rung for beforehand',
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
    [
      '  if place == PLACE.leased then places.soonest(doc.queue, queue_fields.next_lease, moment) end\n',
      '',
      'no check happens when a lease ends',
    ],
    [
      '  if place == PLACE.timers then places.soonest(doc.queue, queue_fields.next_timer, moment) end\n',
      '  if place == PLACE.timers and not cache.queue(doc.queue).next_timer then places.soonest(doc.queue, queue_fields.next_timer, moment) end\n',
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
    ["  cache.zset(wake_key, 'q:' .. q, false)\n", '', 'a queue with nothing to come stays in the index'],
    ['#members == most', 'false', 'a tick that left queues out says it is done'],
  ),
  ...of(
    21,
    'lib/run/tokens.lua',
    ['.. mark .. lent', ".. 'n' .. lent", 'tokens are alike after a failover'],
    ['.. mark .. lent', '.. mark', 'the tokens of one claim share their nonce'],
  ),
  ...of(22, 'lib/runtime/store.lua', [
    'doc.place ~= PLACE.terminated and (tonumber(doc.next_slot) or numbers.never)',
    'tonumber(doc.next_slot) or numbers.never',
    'a terminated job stays among the schedules',
  ]),
  ...of(21, 'lib/runtime/store.lua', [
    '  if not ok then undo_pushes(why) end\nend\n',
    "  if not ok then undo_pushes(why) end\n  for i = 1, #sets, 2 do redis.call('PEXPIRE', sets[i], 86400000) end\nend\n",
    'documents expire by themselves',
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
      'if not run.slot or is_moved(doc, run) or doc.terminating == TERMINATING.shutdown then return end',
      'if true then return end',
      'every run is for the same slot',
    ],
    [' or is_moved(doc, run) or', ' or', 'a run overwrites the slot that a caller set'],
    [' or doc.terminating == TERMINATING.shutdown then return end', ' then return end', 'a shutdown run uses a slot'],
    ['numbers.int(time.now + CATCH_UP)', 'numbers.int(time.now)', 'slots that are made up for come at once'],
    ['  cache.change(id, doc, fields.slot_missed, nil)\n', '', 'a slot that was missed marks those after it'],
    ['  if run.passed then cache.change', '  if false then cache.change', 'missed slots are not recorded'],
    ['  cache.change(id, doc, fields.ran_at, doc.previous_ran_at)\n', '', 'a slot that was not run counts as one'],
  ),
  ...of(
    35,
    'lib/run/ops/on_records.lua',
    ['if not doc.followed then return', 'if true then return', 'a schedule that has ended forgets its children'],
    ["if doc.followed:sub(-2) == ',0' then", 'if true then', 'an ended schedule does not hear of a broken child'],
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
    ['    slots.set_times(id, doc, run)\n', '', 'a failed slot comes again at once'],
    [
      'cache.count(id, doc, fields.failed_in_a_row)',
      "cache.change(id, doc, fields.failed_in_a_row, '1')",
      'the number of consecutive failures of a schedule is missing',
    ],
  ),
  ...of(22, 'lib/run/finish.lua', [
    '  if not run.paused then cache.change(id, doc, fields.failed_in_a_row, nil) end\n',
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
      '    cache.clear(id, doc, { fields.failures, fields.deliveries })\n    slots',
      '    cache.clear(id, doc, { fields.deliveries })\n    slots',
      'the attempts of one slot count for the next',
    ],
    ['    ending.clear_steps(id, doc)\n', '', 'the steps of one slot are taken for the next'],
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
      'an outage makes a runaway',
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
    [
      'return doc.catch_up_at and not sides.of(doc.queue, doc.class, doc.tag) and',
      'return doc.catch_up_at and',
      'pull workers wait for missed slots',
    ],
    ['    cache.change(id, doc, fields.slot_missed, nil)\n', '', 'input waits for the next slot'],
  ),
  ...of(
    22,
    'lib/queue/due.lua',
    ['time.now - tonumber(doc.next_slot) > SLOT_GRACE', 'false', 'no slot is missed'],
    [' > SLOT_GRACE and not doc.wanted_early', ' > SLOT_GRACE', 'a requested run is skipped'],
    [
      'time.now - tonumber(doc.next_slot) > SLOT_GRACE',
      'time.now > tonumber(doc.next_slot)',
      'a slot is missed at once',
    ],
    ['\'"missed":"skip"\'', "'missed'", 'slots of every schedule are skipped'],
  ),
]

const families: Mutation[] = [
  ...of(23, 'lib/job/ending.lua', [
    '  if doc.place == PLACE.suspended then queueing.enqueue(id, doc) end\n',
    '',
    'a held child keeps its place',
  ]),
  ...of(23, 'lib/family/kin.lua', [
    "  cache.change(id, doc, fields.held, '1')\n",
    '',
    'a child does not know that it is held',
  ]),
  ...of(
    23,
    'lib/job/queueing.lua',
    [
      'if among[i] and not (cache.writes.sets[key] and cache.writes.sets[key][child] == false) then',
      'if true then',
      'children are counted, whatever their class',
    ],
    [
      '        if doc.place == PLACE.suspended then queueing.enqueue(parent, doc, true) end\n',
      '',
      'the parent is not woken',
    ],
    ['      if left <= 0 then\n', '      if true then\n', 'the first child wakes the parent'],
    [
      '  if has_ended then journal.push(journal.within(queueing.settled, doc.parent), id) end\n',
      '',
      'the end of a child does not count',
    ],
    [
      '    queueing.stop_waiting(id, doc)\n    queueing.enqueue(id, doc, true)\n  end\n',
      '    queueing.enqueue(id, doc, true)\n  end\n',
      'a parent that was woken still waits',
    ],
  ),
  ...of(23, 'lib/job/ending.lua', [
    '  queueing.stop_waiting(id, doc)\n  if place ~= PLACE.failed',
    '  if place ~= PLACE.failed',
    'a parent that was terminated still waits',
  ]),
  ...of(
    23,
    'lib/run/finish.lua',
    ['and not states.ends[child.status] then', 'then', 'children that have ended are waited for'],
    ["(run.wait_for == '*' or wanted[child.name])", 'true', 'all children are awaited, instead of the named ones'],
    [
      "run.ending == 'suspended' and run.wait_for and not waiting then",
      'false then',
      'a parent without awaited children sleeps',
    ],
    [
      "queueing.wake_parent(id, doc, run.ending == 'completed' and doc.repeats)",
      'queueing.wake_parent(id, doc)',
      'a repeating child never counts',
    ],
  ),
  ...of(
    23,
    'lib/family/kin.lua',
    [
      "if parent_doc.waits_for == '*' and not states.ends[status] then",
      'if false then',
      'children that come later are not waited for',
    ],
    [
      "if parent_doc.waits_for == '*' and not states.ends[status] then",
      'if parent_doc.waits_for and not states.ends[status] then',
      'children that come later are waited for by name',
    ],
    [
      '  if parent_doc and parent_doc.waits_for then journal.push(journal.within(queueing.settled, parent), id) end\n',
      '',
      'a child that leaves is waited for',
    ],
  ),
  ...of(
    24,
    'lib/job/queueing.lua',
    [
      "    if why == 'child' and doc.waits_for then return false end\n",
      '',
      'a run of a child wakes a parent that waits',
    ],
    [
      "why == 'child' and fields.child_during_run or fields.input_during_run",
      'fields.input_during_run',
      'news of a child counts as own input',
    ],
    [
      "cache.change(id, doc, why == 'child' and fields.child_during_run or fields.input_during_run, '1')",
      '',
      'input during the run is forgotten',
    ],
    [
      "why == 'child' and doc.waits_for then return false",
      'doc.waits_for then return false',
      'input does not wake a parent that waits',
    ],
  ),
  ...of(
    24,
    'lib/run/finish.lua',
    ['if own or (child and not waiting) then', 'if own or child then', 'news of a child keeps the parent from waiting'],
    ['if own or (child and not waiting) then', 'if own then', 'news of a child during the run is forgotten'],
    [
      'if own or (child and not waiting) then',
      'if not waiting and (own or child) then',
      'a parent waits although it has input',
    ],
  ),
  ...of(25, 'lib/family/erase.lua', ['for i = #tree, 1, -1 do', 'for i = 1, 1 do', 'only the root goes']),
  ...of(
    25,
    'lib/job/retention.lua',
    ['if not states.ends[states.of(doc)] then return nil, nil end', '', 'a root goes before those below it have ended'],
    [
      "(port == '*' or #audience.channels_of(member, doc, 'i', port) > 0)",
      'false',
      'a root goes with a subscriber below it',
    ],
    ['  return has_seen(parent_doc, doc)\n', '  return true\n', 'a child goes before its parent has seen its end'],
    [
      'parent_doc.branchwise_after ~= nil and parent_doc.branchwise_after == parent_doc.ended_at',
      'false',
      'an oversized family stays forever',
    ],
    [
      'if parent_doc.place == PLACE.leased or not committed[outcome] then return false end',
      'if parent_doc.place == PLACE.leased then return false end',
      'a child goes although the run that saw it has failed',
    ],
    [
      'if parent_doc.place == PLACE.leased or not committed[outcome] then return false end',
      'if not committed[outcome] then return false end',
      'a child goes while its parent looks at it',
    ],
    [
      'return tonumber(started) > ended or',
      'return tonumber(started) > ended or false and',
      'a child that its parent saw at once stays',
    ],
    ['local SWEEP, MAX_SWEPT = 200,', 'local SWEEP, MAX_SWEPT = 5000,', 'everything goes in one slice'],
    [
      '    cache.zset(places.index_of(doc), id, time.now + RETRY_IN)\n',
      '    cache.zset(places.index_of(doc), id, numbers.never)\n',
      'a job that could not be removed is never checked again',
    ],
  ),
  ...of(
    25,
    'lib/job/ending.lua',
    [
      'if place == PLACE.completed and has_inputs(id, doc) and not doc.relay_channel',
      'if false and not doc.relay_channel',
      'a job that input can wake goes',
    ],
    ['if doc.parent or listens(id, doc) then', 'if listens(id, doc) then', 'a child goes that its parent may write to'],
    ['if doc.parent or listens(id, doc) then', 'if doc.parent then', 'a job goes that listens to a channel'],
    ['(tonumber(doc.retain) or WOKEN_FOR)', 'WOKEN_FOR', 'a job that input can wake stays, whatever its retain'],
    [
      'time.now + (tonumber(doc.retain) or DAY)',
      'time.now + (tonumber(doc.retain) or 30 * DAY)',
      'ended jobs stay a month',
    ],
  ),
]

const limited: Mutation[] = [
  ...of(
    26,
    'lib/run/claim.lua',
    ['  if sides.is_limited(doc) then limits.take_slots(id, doc) end\n', '', 'a run takes no slot'],
    [
      'local full = sides.is_limited(doc) and limits.first_full(doc)',
      'local full = false',
      'a claim does not look for room',
    ],
  ),
  ...of(26, 'lib/queue/sides.lua', [
    '  keys[#keys + 1] = sides.own_limit(doc)\n',
    '',
    'a worker has more runs than it says',
  ]),
  ...of(
    26,
    'lib/limit/limits.lua',
    ["      journal.put(state, 'taken', state.taken + 1)\n", '', 'one claim fills a limit over and over'],
    [
      "fields.held_limits, table.concat(taken, '\\n')",
      'fields.held_limits, doc.limits',
      'a run of a bounded worker keeps its slot when it ends',
    ],
    [
      "redis_keys.limit_key(state.key, 'held'), '(' .. numbers.int(time.now), '+inf')",
      "redis_keys.limit_key(state.key, 'held'), '-inf', '+inf')",
      'an expired lease holds its slot until a look',
    ],
    [
      "cache.zset(redis_keys.limit_key(key, 'held'), id, tonumber(doc.lease_until))\n      journal.put(",
      "redis.call('INCR', redis_keys.limit_key(key, 'count'))\n      journal.put(",
      'slots are counted apart from leases',
    ],
    [
      'function limits.release_slots(id, doc)\n  for _, key in ipairs(tables.lines(doc.held_limits)) do',
      'function limits.release_slots(id, doc)\n  for _, key in ipairs(tables.lines(doc.limits)) do',
      'a run gives back a slot it did not take',
    ],
    ['  cache.change(id, doc, fields.held_limits, nil)\n', '', 'a job that has no run still seems to hold slots'],
    ["    cache.zset(redis_keys.limit_key(key, 'held'), id, false)\n", '', 'a slot is held by a job without a lease'],
    [
      "    cache.zset(redis_keys.limit_key(key, 'held'), id, tonumber(doc.lease_until))\n    if sooner",
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
      'a worker’s limit that comes back goes again',
    ],
    [
      '  bound(class, tonumber(concurrency), differs)\n',
      '  if not bounded[class] then bound(class, tonumber(concurrency), differs) end\n',
      'a worker keeps the first number that it said',
    ],
    ['anew or not limits.at(own).settings', 'anew', 'a worker whose limit was removed has none until it changes'],
    ['(anew or not limits.at(own).settings)', 'true', 'settings of a worker’s limit are lost'],
    ['      bound(class)\n', '', 'a class that its deployment no longer has keeps its limit'],
    ['paused = false, gone = 1 }', 'paused = false }', 'a limit of a worker stays forever'],
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
    "  if not is_removed then cache.del(redis_keys.limit_key(key, 'held')) end\n",
    "  cache.del(redis_keys.limit_key(key, 'held'))\n",
    'a limit that goes takes the slots of its runs with it',
  ]),
  ...of(26, 'lib/run/ops/on_records.lua', [
    '  if doc.place == PLACE.limited then places.move(me.id, doc, PLACE.limited, nil, doc.waiting_limit) end\n',
    '',
    'a new priority does not count for jobs waiting at a limit',
  ]),
  ...of(26, 'lib/limit/assign.lua', [
    '  if doc.place == PLACE.limited or not doc.place or doc.place == PLACE.pull then\n    local full',
    '  if false then\n    local full',
    'a waiting job does not move with its limits',
  ]),
  ...of(
    27,
    'lib/limit/limits.lua',
    ['local promised = settings.promised or 0', 'local promised = 0', 'room is given away twice'],
    ['(doc.reserved_limit == key and 1 or 0) < 1', '0 < 1', 'a job with a reserved slot finds none'],
  ),
  ...of(
    27,
    'lib/limit/waiting.lua',
    [
      'places.move(id, doc, sides.of(doc.queue, doc.class, doc.tag), nil, nil, true)\n      if settings',
      'places.move(id, doc, sides.of(doc.queue, doc.class, doc.tag))\n      if settings',
      'a job that waited comes back after later ones',
    ],
    ['        cache.change(id, doc, fields.reserved_limit, key)\n', '', 'a returning job has no reserved slot'],
  ),
  ...of(27, 'lib/runtime/tables.lua', [
    'a[2] < b[2] or (a[2] == b[2] and a[1] < b[1])',
    'a[2] > b[2] or (a[2] == b[2] and a[1] > b[1])',
    'the last comes first',
  ]),
  ...of(
    27,
    'lib/limit/limits.lua',
    [
      'if settings then limits.save(key, limit_fields.promised, math.max(0, (settings.promised or 0) - 1)) end',
      '',
      'room that was given is never given again',
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
      'more room is not noticed',
    ],
  ),
  ...of(
    27,
    'lib/limit/waiting.lua',
    [
      '    cache.change_queue(doc.queue, queue_fields.limit_moments, waits)\n',
      '',
      'a claim does not know when a rate lets the next one through',
    ],
    ["  cache.zset(ns .. 'wake', 'k:' .. key, moment)\n", '', 'the tick does not know when room comes by itself'],
  ),
  ...of(
    27,
    'lib/limit/limits.lua',
    ['if settings.paused or', 'if', 'a limit that is paused lets all through'],
    ['(settings.rate or numbers.never) - state.started - promised)', 'numbers.never)', 'a rate is not kept'],
    [
      'math.min(time.now, tonumber(doc.ran_at) + margin',
      '(tonumber(doc.ran_at) + margin',
      'a short run counts for longer than it can',
    ],
    ['+ margin(settings, late))', '+ margin(settings, 0))', 'a run that began late collides with the next period'],
    [
      "'(' .. numbers.int(time.now - state.settings.period), '+inf') or 0",
      "'(' .. numbers.int(time.now), '+inf') or 0",
      'only what starts now counts for a rate',
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
    ['and turn_after(last) or front', 'and last or front', 'the group that came first is drained first'],
    [
      'if not is_shared(doc, key) then',
      'if not doc.group or not is_shared(doc, key) then',
      'jobs without a group precede all groups',
    ],
    [
      '  local tier = numbers.int(order.score(doc))\n  local group',
      "  local tier = '0'\n  local group",
      'a group with many jobs of one priority waits with the jobs of another',
    ],
    [
      '(front_of(key, tier) or doc.sequence)',
      'doc.sequence',
      'a group that comes later waits for all turns that are given',
    ],
    ['first == false or (first and', 'not first or (', 'a job that comes in a batch goes after it'],
    ["is_let_through and turn .. ',0' or nil", 'nil', 'a group whose jobs come one by one is always in front'],
    [
      "last .. ',' .. numbers.int(n - 1)",
      "last .. ',' .. numbers.int(n)",
      'the turns of jobs that have gone are waited for',
    ],
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
    'a job that runs again has the turn that it has had',
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
    'room is kept for a job that does not count against the limit any more',
  ]),
  ...of(27, 'lib/job/places.lua', [
    '  if doc.reserved_limit and (not doc.place or doc.place == PLACE.pull) then limits.drop_baton(id, doc) end\n',
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
      'a shutdown run waits for room',
    ],
  ),
  ...of(27, 'scripts/commit.lua', [
    ' + limits.due(queue_name)',
    '',
    'a claim does not look at the limits that are due',
  ]),
  ...of(27, 'scripts/tick.lua', ['    limits.touch(name)\n', '', 'the tick does not look at the limits that are due']),
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
  ...of(22, 'lib/run/ops/on_records.lua', [
    'if ended and doc.place == PLACE.timers and has_no_run_left(doc) then',
    'if false then',
    'a schedule that ends runs once more',
  ]),
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
    'a tag that is late overwrites a newer one',
  ]),
  ...of(28, 'lib/limit/assign.lua', [
    '  cache.change(id, doc, fields.constraints_version, version)\n',
    '',
    'a job is tagged forever',
  ]),
  ...of(
    28,
    'scripts/constraint.lua',
    [
      'hints.set(system, till, all.version)',
      "hints.set(system, till, '')",
      'lanes do not learn of changed constraints',
    ],
    ['numbers.int(tonumber(all.version) + 1)', "'1'", 'only the first change is noticed'],
    ["limits.define(one, { open = 1 }, 'set')", '', 'jobs waiting by an old constraint still wait'],
  ),
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
      'the number of runs is missing for a closed limit',
    ],
  ),
  ...of(127, 'lib/job/places.lua', [
    '    limits.count_waiting(doc.queue, doc.waiting_limit, -1)\n',
    '',
    'a job that no longer waits at a limit is counted there',
  ]),
]

const listening: Mutation[] = [
  ...of(
    30,
    'lib/port/write.lua',
    [
      "for _, level in ipairs(all) do journal.push(cache.writes.messages, { ns .. 'live:' .. level, text }) end",
      "journal.push(cache.writes.messages, { ns .. 'live:' .. channel, text })",
      'a listener above receives nothing',
    ],
    [
      "for _, level in ipairs(all) do journal.push(cache.writes.messages, { ns .. 'live:' .. level, text }) end",
      "for _, level in ipairs(all) do redis.call('PUBLISH', ns .. 'live:' .. level, text) end",
      'messages of a refused run are published',
    ],
  ),
  ...of(30, 'lib/port/hints.lua', [
    'return system > 0 or till > time.now',
    'return system > 0',
    'a listener outside receives no statuses',
  ]),
  ...of(
    30,
    'lib/port/hints.lua',
    [
      'return hints.set(system, math.max(till, time.now + ms), version)',
      'return hints.set(system, time.now + ms, version)',
      'a short-lived listener to all cuts off the rest',
    ],
    [
      'known[channel] = math.max(known[channel] or 0, time.now + ms)',
      'known[channel] = time.now + ms',
      'a short-lived listener to a channel cuts off the rest',
    ],
    [
      'if tonumber(till) > time.now then\n      listened.till',
      'if true then\n      listened.till',
      'a listener is never forgotten',
    ],
    [
      'if till > time.now then return levels end',
      'if true then return levels end',
      'everything is published outside, whatever the listener',
    ],
    ['#lines > MOST_LISTENED', 'false', 'very many channels are all remembered'],
  ),
  ...of(30, 'lib/run/packed.lua', [
    '    if hints.hears_job(one) then hints',
    '    if false then hints',
    'a job in a piece that is listened to is made without a word',
  ]),
  ...of(
    30,
    'lib/queue/waiters.lua',
    ['        break\n', '', 'a job calls all claims that wait'],
    [
      "if class == '' or globs.steps <= 0 or globs.match(class, claim.patterns, claim.known) then",
      'if true then',
      'a job calls any waiting claim',
    ],
    ['        table.remove(claims, i)\n', '', 'two jobs call one claim'],
    [
      "'(' .. numbers.int(time.now), '+inf', 'LIMIT', 0, MAX_CALLS",
      "'-inf', '+inf', 'LIMIT', 0, MAX_CALLS",
      'a departed claim is called',
    ],
    [
      '  if till > time.now then cache.change_queue(q, queue_fields.pulls_until, math.max(cache.queue(q).pulls_until or 0, till)) end\n',
      '',
      'nobody is called',
    ],
    ['till > time.now and till)', 'till > time.now and till or nil)', 'a claim that leaves the line stays in it'],
  ),
  ...of(30, 'scripts/commit.lua', [
    "#ids == 0 and told == '' and time.now + wait or time.now)",
    'time.now + wait)',
    'a served claim is called for the next job',
  ]),
  ...of(30, 'lib/job/places.lua', [
    '  if place == PLACE.pull then journal.push(journal.within(places.to_call, doc.queue), doc.class) end\n',
    '',
    'a due job calls no claim',
  ]),
]

const oneTime: Mutation[] = [
  ...of(
    31,
    'lib/job/unique.lua',
    [
      '  if cache.text_at(key) == id then\n    journal.put(cache.raw',
      '  if true then\n    journal.put(cache.raw',
      'a job frees the key of another',
    ],
    [
      'if not doc.unique_scope or (doc.unique_held == UNIQUE_HELD.until_deleted and not deleted) then return end',
      'if not doc.unique_scope then return end',
      'the end of a job frees a key that is held longer',
    ],
  ),
  ...of(31, 'lib/job/ending.lua', ['  unique.free(id, doc)\n', '', 'a job that has ended holds its key']),
  ...of(31, 'lib/job/create.lua', [
    '  if same then return same, status, true end\n',
    '',
    'a key does not keep anybody from making another',
  ]),
  ...of(31, 'lib/job/unique.lua', [
    "return q .. '\\n' .. class .. '\\n' .. key end",
    'return key end',
    'one key for all queues and classes',
  ]),
  ...of(
    31,
    'lib/job/create.lua',
    [
      "  if spec.unique_for == '' then unique.hold(id",
      '  if true then unique.hold(id',
      'a key that is held for a time goes with its job',
    ],
    [
      '  values.set_value(id, doc, fields.args, newest)\n',
      '',
      'a debounced job runs with the args that were given first',
    ],
    [
      '  cache.change(id, doc, fields.not_before, moment > time.now and numbers.int(moment) or nil)\n',
      '',
      'a debounced job runs when it was first asked for',
    ],
    [
      'math.min(time.now + tonumber(spec.wait), most)',
      'time.now + tonumber(spec.wait)',
      'a debounced job is delayed forever',
    ],
    [
      '  assign.anew(id, doc, asked_doc.constraints_version, spec.limit_rows or {}, asked_doc.group)\n',
      '',
      'new args count against the old limits',
    ],
    [
      '  if moment > time.now or doc.place == PLACE.timers then queueing.enqueue(id, doc) end\n',
      '',
      'a ready debounced job is leased at once',
    ],
    [
      '  if spec.debounce and doc.unique_held == UNIQUE_HELD.debounced then\n',
      '  if spec.debounce then\n',
      'a debounced request moves a job held by another rule',
    ],
    [
      'if not unique.waits(doc) then return unique.let_go(id, doc) end',
      '',
      'a job that is to end takes the next one along',
    ],
  ),
  ...of(31, 'lib/job/unique.lua', ["  cache.set_text(ns .. 'unique:' .. scope, id)\n", '', 'a key has no owner']),
  ...of(
    31,
    'lib/family/erase.lua',
    ['  unique.free(id, doc, true)\n', '', 'a job that is deleted holds its key'],
    [
      '  if doc.timed_unique_scope then unique.outlive(id, doc, status or states.of(doc)) end\n',
      '',
      'a key that is held for a time goes with its job',
    ],
  ),
  ...of(31, 'lib/run/claim.lua', [
    '  if doc.unique_held == UNIQUE_HELD.until_started or doc.unique_held == UNIQUE_HELD.debounced then unique.free(id, doc) end\n',
    '',
    'input during a run is delayed with that run, or lost',
  ]),
  ...of(
    32,
    'scripts/enqueue.lua',
    [
      'if known then return reply.again { jobs = known, lent = snapshot.of(eager.lent_before(lane)) } end',
      '',
      'jobs requested twice are created twice',
    ],
    [
      "if taken then return reply.refused { code = 'TAKEN', message = idempotency.USED } end",
      '',
      'one key covers two bodies',
    ],
  ),
  ...of(
    123,
    'scripts/enqueue.lua',
    ['  taken = taken or answered or used\n', '', 'an existing job is created again together with new ones'],
    ['beside[1] and { answers[1] } or answers', 'answers', 'the leading caller gets the jobs of all on a retry'],
    ['call.fingerprint, { answers[i + 1] }', 'call.fingerprint, { answers[i] }', 'a caller gets the job of another'],
  ),
  ...of(
    32,
    'scripts/change.lua',
    ['if known then return reply.repeated { answer = known } end', '', 'a repeated call takes effect twice'],
    [
      "if taken then return reply.refused { code = 'TAKEN', message = idempotency.USED } end",
      '',
      'one key covers two bodies',
    ],
    [
      'if not me.nothing then idempotency.remember',
      'if true then idempotency.remember',
      'a missing result stays the answer forever',
    ],
    [
      "if not ok then return reply.refused { code = why.code, message = why.message, wait = why.wait or '' } end",
      "if not ok then\n  idempotency.remember(once, fingerprint, {}, tonumber(once_for), '')\n  work.flush()\n  return reply.refused { code = why.code, message = why.message }\nend",
      'a refusal stays the answer forever',
    ],
  ),
  ...of(
    32,
    'lib/runtime/idempotency.lua',
    ['if not till or tonumber(till) <= time.now then', 'if not till then', 'an answer holds longer than its key'],
    [
      "cache.set_expiring(key, till .. '\\n' .. fingerprint .. '\\n' .. text, ms)",
      "cache.set_expiring(key, till .. '\\n' .. fingerprint .. '\\n' .. text, 1000)",
      'an answer is forgotten too early',
    ],
  ),
  ...of(
    129,
    'lib/runtime/idempotency.lua',
    ['line_on(shelf, key) or cache.text_at(key)', 'cache.text_at(key)', 'an answer on a shelf is not found'],
    ['    if of == key then return line end', '    if true then return line end', 'one gets the answer of another'],
    [
      'tonumber(till) > time.now then return text:sub(from) end',
      'true then return text:sub(from) end',
      'a shelf keeps all that ever stood on it',
    ],
    ['  if #shelved <= SHELF_BYTES then return', '  if true then return', 'a shelf grows with the calls'],
    ['without_old(cache.text_at(shelf) or', "without_old('' or", 'a newcomer to a shelf sweeps it'],
    [
      '  local till, text = numbers.int(time.now + ms)',
      '  local till, text = numbers.int(time.now + 1000)',
      'an answer on a shelf lasts for a second',
    ],
  ),
  ...of(32, 'lib/run/ops/of_callers.lua', [
    'if text and not look then results.drop(',
    'if false then results.drop(',
    'a result is taken again and again',
  ]),
  ...of(
    32,
    'lib/job/places.lua',
    [
      "journal.push(cache.writes.messages, { ns .. 'ended:' .. id, is })",
      '',
      'a caller that waits for a result is not called',
    ],
    [
      '  if not doc.waited_until or not states.ends[is] then return end',
      '  if not doc.waited_until then return end',
      'a run that begins calls them',
    ],
    ['  if tonumber(doc.waited_until) > time.now then', '  if true then', 'departed callers are called'],
    ['  cache.change(id, doc, fields.waited_until, nil)\n', '', 'they are awaited forever after'],
  ),
  ...of(32, 'lib/job/ending.lua', [
    '    places.call_watchers(id, doc, states.resting[place])\n',
    '',
    'the end of a deleted job is not reported',
  ]),
  ...of(
    32,
    'scripts/commit.lua',
    [
      "if entered or (laned and #runs > 0) or (lane ~= '' and #ids > 0) then",
      'if entered or (laned and #runs > 0) then',
      'a pull worker that retries gets two leases',
    ],
    [
      "if entered or (laned and #runs > 0) or (lane ~= '' and #ids > 0) then",
      "if lane ~= '' then",
      'a pull worker that got nothing gets nothing for a minute',
    ],
  ),
  ...of(
    33,
    'lib/run/snapshot.lua',
    ['  if not doc.has_children then return {}, 0 end\n', '', 'a claim asks for children that are not there'],
    ["  if not doc.has_steps then return {}, '' end\n", '', 'a claim asks for steps that are not there'],
    [
      '  local flat, bytes = {}, 0\n  for _, field in ipairs(cache.attached_to(id, doc)) do\n    local dir',
      '  local flat, bytes = {}, 0\n  inputs_of[id] = flat\n  for _, field in ipairs(cache.attached_to(id, doc)) do\n    local dir',
      'values that cannot be read are taken for none',
    ],
    [
      "if pushed ~= taken and not doc['v' .. field] then",
      "if redis.call('LLEN', redis_keys.list_key(id, dir, port)) > 0 then",
      'a claim asks for values that are not there',
    ],
  ),
  ...of(33, 'lib/run/claim.lua', [
    "  cache.change(id, doc, fields.runs_this_minute, time.this_minute .. ':' .. numbers.int(n))\n",
    "  redis.call('SET', redis_keys.side_key(id, 'minute'), n)\n",
    'the guard has a key of its own',
  ]),
  ...of(
    33,
    'lib/run/leases.lua',
    [
      "(doc.history or outcome == 'failed' or outcome == 'lost') and leases.most_kept(doc) or 0",
      'leases.most_kept(doc)',
      'every job keeps its runs',
    ],
    ["(doc.history or outcome == 'failed' or outcome == 'lost') and", 'true and', 'runs that went well are kept'],
    ["or outcome == 'failed' or outcome == 'lost')", "or outcome == 'failed')", 'lost runs are not kept'],
    ['if n >= most then lists.pop(kept, 1) else', 'if true then', 'a job keeps all its runs'],
    ['  if #error > MAX_KEPT_ERROR then\n', '  if false then\n', 'errors are kept however long they are'],
  ),
  ...of(
    111,
    'lib/run/retry.lua',
    ['error = LOST, ', '', 'the row of a lost run has no reason'],
    ["    log.keep(id, 'error', LOST, doc)\n", '', 'the log does not mention a lost run'],
    ['  if doc.begun then\n', '  if true then\n', 'the log mentions runs that never began'],
  ),
  ...of(33, 'lib/run/retry.lua', [
    'again = not doc.terminating and has_tries(doc) }',
    'again = doc.terminating and has_tries(doc) }',
    'a lost run is reported as the last',
  ]),
  ...of(33, 'lib/family/erase.lua', [", history_kept = 'runs'", '', 'the runs of a job outlast it']),
  ...of(33, 'lib/job/ending.lua', [
    '  if not doc.has_steps then return end\n',
    '',
    'the end of a run removes steps that are not there',
  ]),
  ...of(
    33,
    'lib/runtime/lists.lua',
    ['list.own and list.had or 0 do left', '0 do left', 'values waiting in the document are forgotten when more come'],
    [
      'list.field and (list.own or list.pop == list.had)',
      'list.field',
      'a later value precedes the values of the list',
    ],
    ['    if size > values.BIG then return nil end\n', '', 'a document grows with waiting values'],
    [
      'list.own and list.had or 0 do left[#left + 1] = list.own[i] end\n',
      'list.own and list.had or 0 do left[#left + 1] = list.own[i] end\n  if list.own then return end\n',
      'taken values remain in the document',
    ],
    ['from + 1, from + n)', '1, n)', 'a page starts with values already seen'],
  ),
  ...of(33, 'lib/family/kin.lua', [
    '  if not doc.has_children then return list end\n',
    '',
    'children that are not there are looked for',
  ]),
]

const callbacks: Mutation[] = [
  ...of(
    34,
    'lib/job/ending.lua',
    ['  if is_known then return end\n', '', 'terminating an ended job reports it again'],
    [
      "if (doc.callback or doc.keep_result) and states.ends[was] then cache.change(id, doc, fields.end_was_told, '1') end",
      '',
      'terminating an ended job reports it again, after its shutdown',
    ],
  ),
  ...of(34, 'lib/job/rerun.lua', [
    'if doc.end_was_told then cache.change(id, doc, fields.end_was_told, nil) end',
    '',
    'another end is taken for a known one',
  ]),
  ...of(
    34,
    'lib/job/internal.lua',
    ["local AT_DESTINATION = '8'", "local AT_DESTINATION = '1000'", 'a destination gets everything at once'],
    [
      'cache.change(doc.callback_of, told_doc, fields.callback_status, told_as[place])',
      '',
      'a job never learns how the telling ended',
    ],
    ['cache.change(id, doc, fields.ends_told, n)', '', 'two ends go by one number'],
  ),
  ...of(
    34,
    'lib/limit/limits.lua',
    [
      ' or (settings.shut or 0) > time.now then return 0',
      ' then return 0',
      'a destination that is down is called all the same',
    ],
    [
      'if (settings.shut or 0) > time.now then return settings.shut end',
      '',
      'a destination that is down is looked at every second',
    ],
  ),
  ...of(34, 'scripts/limit.lua', ['tonumber(till) or false', 'tonumber(till) or nil', 'a destination stays shut']),
  ...of(34, 'lib/job/retention.lua', [
    "return doc.callback_job and doc.callback_status ~= 'DELIVERED' and cache.find(doc.callback_job)",
    'return false',
    'a job is deleted before it is reported',
  ]),
]

const channels: Mutation[] = [
  ...of(
    29,
    'lib/port/write.lua',
    ['if n > 0 and (n > write.MAX_DIRECT or', 'if n > 0 and (', 'one script reaches everybody, however many they are'],
    ['and has_left(relayed_by))', 'and false)', 'a message to few listeners overtakes one on its way'],
    ["'(' .. behind or", "'[' .. behind or", 'the last port of a page gets the message twice'],
  ),
  ...of(
    29,
    'lib/port/relay.lua',
    [
      'cache.change(id, doc, fields.relay_cursor, members[page])',
      'cache.change(id, doc, fields.relay_cursor, nil)',
      'a relay does not know how far it has got',
    ],
    ['      cache.change(id, doc, fields.relay_cursor, nil)\n', '', 'the next message begins where the last one ended'],
  ),
  ...of(
    29,
    'lib/port/write.lua',
    [
      '    audience.member_change(channel, member, false)\n    return 0\n',
      "    journal.refuse('NOT_FOUND', member)\n",
      'a departed listener stops the message for the rest',
    ],
    ['if score and not old[member] then', 'if false then', 'a listener since this very run receives nothing'],
  ),
  ...of(
    29,
    'lib/port/audience.lua',
    ['if pending and pending[member] == score then return end', '', 'a departed listener is subtracted twice'],
    ['#listed == tonumber(n) and listed or nil', 'listed', 'an unnamed listener receives nothing'],
    ['listed and #listed <= audience.FEW and', 'listed and', 'a message to many reads all their names'],
  ),
  ...of(29, 'lib/port/write.lua', [
    'if #members == n then audience.list(channel, n, relay, members) end',
    '',
    'the remaining few of many listeners are never named',
  ]),
  ...of(
    29,
    'lib/run/ops/on_ports.lua',
    [
      "if relay.run(me.id, doc) then cache.change(me.id, doc, fields.input_during_run, '1') end",
      'relay.run(me.id, doc)',
      'a relay stops after a page',
    ],
    [
      "cache.change(me.id, doc, fields.input_during_run, '1') end\n  leases.uncount_run(me.id, doc)\n",
      "cache.change(me.id, doc, fields.input_during_run, '1') end\n",
      'a busy relay is taken for a loop',
    ],
  ),
  ...of(29, 'lib/port/write.lua', [
    'if doc.place ~= PLACE.failed and doc.place ~= PLACE.terminated then return end',
    'if true then return end',
    'a relay that was terminated leaves its channel silent',
  ]),
  ...of(29, 'lib/family/erase.lua', [
    'if doc.relay_channel then audience.set_relay(doc.relay_channel, nil) end',
    '',
    'a channel names a relay that has gone',
  ]),
  ...of(29, 'lib/job/ending.lua', ['and not doc.relay_channel and', 'and', 'an unneeded relay stays']),
]

const kept: Mutation[] = [
  ...of(
    130,
    'lib/port/kept.lua',
    ['index, 0, -MOST', 'index, 0, -MOST - 1', 'one channel more has a last message'],
    ['minutes.counted(counts, 1)', 'minutes.counted(nil, 1)', 'only the last message is counted'],
    ['  cache.zset(index, channel, false)\n', '', 'a forgotten channel keeps its place'],
    ['  cache.replace_text(kept.key(channel), false)\n', '', 'a forgotten channel stays in Redis'],
    ['~= minute then', '== false then', 'kept messages cannot be found'],
    ["tonumber(((counts or ''):match('^%d+'))) ~= minute", 'not text', 'a channel goes though something has just come'],
  ),
  ...of(130, 'lib/run/ops/of_callers.lua', [
    'if size > 0 then kept.keep',
    'if true then kept.keep',
    'nothing is forgotten',
  ]),
  ...of(130, 'lib/runtime/minutes.lua', ['math.min(MINUTES, #counts)', '#counts', 'more than ten minutes are counted']),
]

const flows: Mutation[] = [
  ...of(
    35,
    'lib/job/queueing.lua',
    [
      "    if parent_doc.place == PLACE.leased and not parent_doc.child_during_run then cache.change(doc.parent, parent_doc, fields.child_during_run, '2') end\n",
      '',
      'a former follower misses events of its children during its last run',
    ],
    [
      "fields.child_during_run, '2')",
      "fields.child_during_run, '1')",
      'a follower runs for whatever its children do during a run',
    ],
  ),
  ...of(
    35,
    'lib/family/follow.lua',
    ['    if doc.place ~= PLACE.completed then complete(id, doc) end\n', '', 'a follower is never completed'],
    [
      'if not doc.not_before and not doc.next_slot then return ending.finish(',
      'if true then return ending.finish(',
      'a follower forgets its appointments',
    ],
    [
      '  elseif doc.place ~= PLACE.suspended then\n',
      '  elseif doc.place ~= PLACE.suspended and doc.place ~= PLACE.completed then\n',
      'a completed follower stays so',
    ],
    ['    cache.change(id, doc, fields.ended_at, nil)\n', '', 'a continuing follower seems to have ended'],
    [
      "    if turned then cache.change(id, doc, fields.child_during_run, '1') end\n",
      '',
      'a failure during its run is forgotten',
    ],
    [
      "if turned then cache.change(id, doc, fields.child_during_run, '1') end",
      "cache.change(id, doc, fields.child_during_run, '1')",
      'events of children during its run always make it run again',
    ],
    [
      'if turned then return resume(id, doc) end',
      'if turned and doc.place ~= PLACE.failed then return resume(id, doc) end',
      'a failed follower stays so although its child is mended',
    ],
    [
      'if turned then return resume(id, doc) end',
      'if turned and doc.place == PLACE.failed then return resume(id, doc) end',
      'the failure of a child is not reported',
    ],
  ),
  ...of(35, 'lib/job/queueing.lua', [
    '  if parent_doc.followed then\n',
    '  if false then\n',
    'every run of a child wakes a follower',
  ]),
  ...of(
    35,
    'lib/job/states.lua',
    [
      'suspended = FOLLOWED_AS.suspended',
      'suspended = FOLLOWED_AS.completed',
      'a suspended child is taken for completed',
    ],
    ['failed = FOLLOWED_AS.broken', 'failed = FOLLOWED_AS.completed', 'a failed child is taken for completed'],
    [
      'terminated = FOLLOWED_AS.broken',
      'terminated = FOLLOWED_AS.completed',
      'a terminated child is taken for completed',
    ],
  ),
  ...of(35, 'lib/job/places.lua', [
    'was == FOLLOWED_AS.broken or is == FOLLOWED_AS.broken',
    'is == FOLLOWED_AS.broken',
    'a child that is mended is not noticed',
  ]),
  ...of(
    35,
    'lib/family/kin.lua',
    [
      '  if parent_doc.followed then places.count_child(id, doc, parent, states.kinds[status]) end\n',
      '',
      'children made later are not counted',
    ],
    [
      '  if doc.followed_as then places.count_child(id, doc, parent, nil) end\n',
      '',
      'children that have left are still counted',
    ],
  ),
  ...of(35, 'lib/run/finish.lua', [
    "elseif run.ending ~= 'again' then cache.change(id, doc, fields.followed, nil) end",
    'end',
    'a follower can never stop',
  ]),
  ...of(35, 'lib/run/retry.lua', [
    "elseif doc.followed and (doc.child_during_run == '1' or doc.input_during_run) then",
    'elseif false then',
    'it fails for a child that is mended',
  ]),
  ...of(35, 'lib/job/retention.lua', ['again = true }', 'again = true, follow = true }', 'its children go before it']),
  ...of(36, 'lib/port/write.lua', [
    "  if doc['w' .. dir .. ':' .. port] then return write.pass(id, doc, dir, port, options or {}) end\n",
    '',
    'values stay at the written port',
  ]),
  ...of(
    36,
    'lib/port/wires.lua',
    [
      "if dir == 'i' then return to_dir == 'i' and to_doc.parent == id end",
      "if dir == 'i' then return true end",
      'wires lead round in a circle',
    ],
    ["to_dir == 'i' and to_doc.parent == doc.parent or", "to_dir == 'i' or", 'a wire reaches a detached job'],
    ['if not wires.is_there(to_doc, to_dir, to_port) then return nil end', '', 'a port that has gone harms who writes'],
  ),
  ...of(36, 'lib/port/write.lua', [
    "  if owner_doc then queueing.wake(owner, owner_doc, 'own') end\n",
    '',
    'nobody is called',
  ]),
  ...of(
    36,
    'lib/runtime/minutes.lua',
    ['for _ = 1, math.min(MINUTES, minute_now', 'for _ = 1, math.min(0, minute_now', 'all minutes are one'],
    [
      "for count in (rest or '0'):gmatch('%d+') do counts[#counts + 1] = count end",
      "counts[#counts + 1] = '0'",
      'the minutes before are forgotten',
    ],
    ["counts[last] == '0' do last = last - 1 end", "counts[last] == '0' do break end", 'minutes of nothing are kept'],
  ),
  ...of(
    36,
    'lib/port/ports.lua',
    [
      "  if doc['m' .. dir .. ':' .. port] then note_leaving(id, doc, dir, port, n) end\n",
      '',
      'values taken by a run are not counted',
    ],
    [
      "  if doc['m' .. dir .. ':' .. port] then note_leaving(id, doc, dir, port, #items) end\n",
      '',
      'taken values are not counted',
    ],
  ),
  ...of(
    36,
    'lib/port/write.lua',
    ['for _, to in ipairs(ends) do wires.watch(to.id, to.doc, to.dir, to.port) end', '', 'far ends are not counted'],
    [
      'if options and options.arriving then items = envelope.stamped(items, numbers.int(math.floor(time.now / 1000))) end',
      '',
      'the wait start of values is unknown',
    ],
  ),
  ...of(36, 'lib/port/envelope.lua', ["flags:gsub('t%d+', '')", 'flags', 'a value has the moments of all its wires']),
  ...of(
    36,
    'lib/port/define.lua',
    [
      "if text and (pushed > taken or doc['d' .. dir .. ':' .. port]) then write.pass(id, doc, dir, port, {}) end",
      '',
      'values waiting when a wire is laid stay',
    ],
    [
      '    values.set_value(id, doc, field, spec.default)\n    audience.set_channels',
      '    audience.set_channels',
      'an amended port has no default',
    ],
    [
      '    if ports.counts(doc, dir, port) then drop_port(id, doc, dir, port) end\n',
      '',
      'a dropped port keeps its values',
    ],
  ),
  ...of(
    36,
    'lib/run/ops/on_ports.lua',
    ["  if value and of.doc['w' .. of.dir .. ':' .. of.port] then", '  if false then', 'a new default stays in place'],
    ['  if not own then journal.refuse', '  if false then journal.refuse', 'anybody lays wires'],
  ),
  ...of(
    35,
    'lib/port/record.lua',
    [
      'if above_doc and above_doc.recorded then',
      'if above_doc then',
      'events of children of every follower are recorded',
    ],
    ['  if entry.bytes > MAX_ENTRY then', '  if false then', 'an entry of a record has no bound'],
  ),
  ...of(35, 'lib/run/ops/on_records.lua', [
    "  if not keep then cache.del(redis_keys.side_key(me.id, 'record')) end\n",
    '',
    'records stay after recording has stopped',
  ]),
  ...of(35, 'lib/family/erase.lua', [" recorded = 'record',", '', 'the record of a flow outlives it']),
  ...of(36, 'lib/run/ops/on_records.lua', [
    "if not tables.has(texts, values.get_value(me.id, cache.need(me.id), 's:' .. field) or '') then",
    'if false then',
    'a run continues with changed values',
  ]),
  ...of(36, 'lib/run/ops/on_ports.lua', [
    "from.id == me.id and 'the flow' or from.doc.child_name)",
    "'')",
    'the refused wire is unknown',
  ]),
]

const aged: Mutation[] = [
  ...of(
    37,
    'lib/queue/order.lua',
    ['return ageing and priority * ageing + moment or priority', 'return priority', 'nobody grows older'],
    ['priority * ageing + moment', 'priority + moment', 'a priority is worth a millisecond'],
    [
      "doc.waiting_limit and doc.waiting_limit ~= 'group:' .. (doc.group or '') and math.floor(score / ageing)",
      'false',
      'groups take turns of a millisecond',
    ],
    [" and doc.waiting_limit ~= 'group:' .. (doc.group or '') and", ' and', 'within a group steps count, not moments'],
  ),
  ...of(37, 'lib/run/packed.lua', [
    'order.rank(q, spec.priority, math.floor((ticks + from) / 1000))',
    'spec.priority',
    'jobs made at once go before all that wait',
  ]),
  ...of(
    37,
    'lib/run/claim.lua',
    [' or queue_record.ageing or queue_record.reordering then', ' then', 'a claim for a priority gets nothing'],
    [
      " and (want.tier == '' or tonumber(doc.priority or 0) == tonumber(want.tier))",
      '',
      'a claim for a priority gets any',
    ],
  ),
  ...of(37, 'lib/run/ops/on_records.lua', [
    'cache.zset(places.index_of(doc), places.member_of(me.id, doc), order.score(doc))',
    'cache.zset(places.index_of(doc), places.member_of(me.id, doc), tonumber(doc.priority) or 0)',
    'a new priority drops the waited time',
  ]),
  ...of(
    37,
    'lib/queue/aging.lua',
    ["{ r = 'p:0', p = 'w:0' }", "{ r = 'w:0', p = 'w:0' }", 'a job waiting for pull workers keeps its place'],
    ["{ r = 'p:0', p = 'w:0' }", "{ r = 'p:0' }", 'a job waiting at a limit keeps its place'],
    ["further ~= '0' and place .. ':' .. further or", '', 'only the first of many get their place'],
    ['      turns.change_tier(id, doc)\n', '', 'a job waiting at a limit has the turn of another step'],
    [
      "  limits.save(key, limit_fields.reordering, further ~= '0' and further or nil)\n",
      '',
      'a limit is scanned forever',
    ],
    ["        cache.zset(ns .. 'wake', 'k:' .. key, time.now)\n", '', 'limits are not checked'],
  ),
  ...of(37, 'lib/limit/waiting.lua', [
    'if settings and settings.reordering then aging.go_on_at(key) end',
    '',
    'a limit keeps its old order',
  ]),
  ...of(37, 'lib/queue/lanes.lua', [
    '(queue_record.moving or queue_record.reordering) and time.now',
    'queue_record.moving and time.now',
    'no tick checks the rest',
  ]),
  ...of(37, 'scripts/tick.lua', ['  aging.go_on(q)\n', '', 'ticks do not continue it']),
  ...of(37, 'scripts/commit.lua', [' + aging.go_on(queue_name)', '', 'claims do not continue it']),
  ...of(37, 'scripts/settings.lua', ['  anew.order(queue_name)\n', '', 'a waiting job keeps its place']),
]

const breakers: Mutation[] = [
  ...of(
    38,
    'scripts/breaker.lua',
    ["local key = ns .. 'breaker:' .. host", "local key = ns .. 'breaker'", 'one host opens the breaker of all'],
    [
      "return reply.breaker { state = 'closed', failures = numbers.int(n) } end\n  return",
      "return reply.breaker { state = 'closed', failures = '0' } end\n  return",
      'failures are not reported',
    ],
    [
      'if n < threshold then return reply.breaker {',
      'if n <= threshold then return reply.breaker {',
      'it opens one failure too late',
    ],
    ['  if not counts then return state() end\n', '', 'calls that were under way count too'],
    ['if n >= threshold then\n    till', 'if false then\n    till', 'it is never closed for a while'],
    ['math.max(floor, ', 'math.max(0, ', 'an answer of the host does not count'],
    ['threshold + 1, cap)', 'threshold + 1, 1e300)', 'the while has no end'],
    ['backoff.doubling(base, n - threshold + 1, cap)', 'base', 'the while stays the same'],
    ['if n < threshold or till > time.now then', 'if n < threshold then', 'every caller may probe'],
    ['    till = time.now + probing\n', '', 'all try at once after the while'],
    ["    keep('p')\n", "    keep('')\n", 'a caller during a probe waits for the maximum'],
    ["  probed = ''\n", '', 'the reported time after a probe is too short'],
    ['till = time.now + probing', 'till = time.now + 86400000', 'a probe that never answers keeps its place'],
    ["    redis.call('DEL', key)\n", '', 'a success changes nothing'],
    [
      "    redis.call('ZADD', ns .. 'breakers', numbers.int(time.now), host)\n",
      '',
      'hosts that are left alone are invisible',
    ],
    [
      "    redis.call('ZREMRANGEBYSCORE', ns .. 'breakers', '-inf', numbers.int(time.now - DAY))\n",
      '',
      'unused hosts are listed forever',
    ],
    [
      "    if n >= threshold then redis.call('ZREM', ns .. 'breakers', host) end\n",
      '',
      'a host that answers again is listed as open',
    ],
    ['return fail(true) end', 'return fail(n < threshold) end', 'a probe that fails changes nothing'],
  ),
]

const schemas: Mutation[] = [
  ...of(
    41,
    'lib/runtime/cache.lua',
    ['number > cache.SCHEMA or', '', 'data of a newer schema are changed'],
    [' or number < OLDEST then', ' then', 'data of an older schema are changed'],
    ['  if asks_schema then check_schema() end\n', '', 'the schema of the data is not checked'],
  ),
  ...of(41, 'lib/runtime/store.lua', ['  record_schema()\n', '', 'a new database has no schema number']),
  ...of(41, 'lib/run/ops/of_callers.lua', [
    "if known ~= '' and not cache.hget(ns .. 'keys', id) then",
    'if false then',
    'an API key that was removed comes back',
  ]),
  ...of(41, 'scripts/tick.lua', ["{ ns .. 'schema' }", '{}', 'the tick looks at data of any schema']),
  ...of(
    41,
    'lib/job/ids.lua',
    ['  if id <= last then return end\n', '  if true then return end\n', 'ids are given again'],
    [
      "  keep(id)\n  cache.set_text(ns .. 'epoch'",
      "  cache.set_text(ns .. 'epoch'",
      'the restore of Redis is reported, and ids are reused',
    ],
    ['numbers.int(times + 1)', "'1'", 'all times that Redis went back count as one'],
    ['numbers.int(last + 1) ..', 'numbers.int(last) ..', 'an existing job is reported as lost'],
  ),
]

const reaching: Mutation[] = [
  ...of(
    70,
    'lib/run/ops/reach.lua',
    ["me.token and me.reach ~= 'all' and trees.root", 'false and trees.root', 'a run changes anybody’s job'],
    ["me.token and me.reach ~= 'all' and trees.root", 'me.token and trees.root', 'reach all is not heard'],
  ),
  ...of(70, 'lib/run/ops/on_jobs.lua', [
    "if force and me.token and me.reach ~= 'all' then",
    'if false then',
    'every run may delete with force',
  ]),
  ...of(70, 'lib/run/ops/on_families.lua', [
    '  cache.need(orphan)\n  reach.check(me, orphan)\n',
    '  cache.need(orphan)\n',
    'a run adopts anybody’s job',
  ]),
  ...of(70, 'lib/run/ops/reach.lua', [
    'trees.root(id) ~= trees.root(me.id)',
    'trees.root(id) ~= me.id',
    'a run cannot reach up',
  ]),
  ...of(
    71,
    'lib/family/births.lua',
    ['if born > MAX_BORN then', 'if false then', 'a job leads to any number of further jobs'],
    ['if level + 1 > MAX_LEVELS then', 'if false then', 'families grow to any depth'],
    ["(parent_doc.root_and_level or ''):match", "(''):match", 'each job counts its own children alone'],
    ['  cache.change(root, root_doc, fields.descendants, numbers.int(born))\n', '', 'nobody is counted'],
  ),
  ...of(71, 'lib/family/erase.lua', [
    '  if doc.root_and_level then births.uncount(doc) end\n',
    '',
    'a departed process is counted forever',
  ]),
  ...of(70, 'lib/family/kin.lua', [
    '  if not parent then return end\n  kin.memo.roots = nil\n',
    '  if not parent then return end\n',
    'a detached child stays in the family',
  ]),
]

const processes: Mutation[] = [
  ...of(
    80,
    'lib/queue/processes.lua',
    ['  if is_new or time.now - known.heard >= BEAT then\n', '  if is_new then\n', 'beats are not written'],
    ['if is_new or time.now - known.heard >= BEAT', 'if true', 'a beat is written with each claim'],
    ['not known or time.now - known.heard > FORGOTTEN', 'not known', 'an old signal holds for a new process'],
    ['if not text and not has_place() then', 'if false then', 'any number of processes is known'],
    ['      cache.hset(processes.key, flat[i], false)\n', '', 'the dead make no room'],
    ['if is_new then known.queues[#known.queues + 1] = q end', '', 'the queues of a process are unknown'],
  ),
  ...of(80, 'lib/run/claim.lua', [
    '  if process or doc.process then cache.change(id, doc, fields.process, process) end\n',
    '',
    'the owner of a run is unknown',
  ]),
  ...of(
    80,
    'lib/run/leases.lua',
    [
      'fields.previous_ran_at, fields.process, fields.run_did }',
      'fields.previous_ran_at, fields.run_did }',
      'a run stays with its process forever',
    ],
    ['doc.process or (doc.lease_length', '(doc.lease_length', 'the history does not know which process'],
  ),
  ...of(80, 'scripts/extend.lua', [
    'if doc.process then told =',
    'if false then told =',
    'a long run makes its process look dead',
  ]),
  ...of(
    80,
    'lib/look/at_work.lua',
    ["and not lane:find('^bell')", '', 'a bell looks like a lane'],
    ["tables.slice(ids, 1, most), 'more'", "tables.slice(ids, 1, most), ''", 'a cut list looks whole'],
    [
      "redis.call('ZUNION', numbers.int(to - from + 1), unpack(indexes, from, to))",
      "redis.call('ZRANGE', indexes[to], 0, -1)",
      'only one queue with few runs is shown',
    ],
  ),
  ...of(
    81,
    'scripts/commit.lua',
    ["max > 0 and told == '' and", 'max > 0 and', 'a quiet process gets jobs'],
    ["#ids == 0 and told == '' and", '#ids == 0 and', 'a quiet process is called in vain'],
    ['faults = journal.faults, told = told }', 'faults = journal.faults }', 'nobody is told'],
  ),
  ...of(
    81,
    'scripts/signal.lua',
    ['known.signal = signal', 'known.signal = known.signal', 'a signal is lost'],
    ['if not text then return reply.none {} end', "if not text then text = '0,0,' end", 'nobody is somebody'],
  ),
]

const branching: Mutation[] = [
  ...of(72, 'lib/job/retention.lua', [
    '      if journal.puts < MAX_SWEPT then alone',
    '      if true then alone',
    'large families go in one sweep',
  ]),
  ...of(72, 'lib/job/ending.lua', ['and not doc.family_top then', 'then', 'a job that walked a family stays forever']),
  ...of(72, 'lib/job/ending.lua', [
    'local budget = { left = 500 }',
    'local budget = { left = 100000 }',
    'one script goes through a family of any size',
  ]),
  ...of(72, 'lib/job/ending.lua', [
    "journal.put(budget, 'left', budget.left - #tree)",
    '',
    'one script goes through any number of families',
  ]),
  ...of(
    72,
    'lib/job/ending.lua',
    ["not tree and internal.hand_on(id, 'terminate') or nil", 'nil', 'only the top of a large family is terminated'],
    ["if doc.delete_requested == 'f' then return 'ending' end", '', 'a large family is deleted twice'],
    [
      "force and 'delete' or 'delete terminated'",
      "'delete'",
      'a large family is deleted without force, terminated or not',
    ],
    ["  cache.change(id, doc, fields.delete_requested, 'f')\n", '', 'a large family that was to go stays'],
  ),
  ...of(
    72,
    'lib/family/trees.lua',
    [
      '        if child ~= id then tree[#tree + 1] = child end\n',
      '        tree[#tree + 1] = child\n',
      'a circle has no end',
    ],
    [
      'if levels > trees.MAX_DEPTH then journal.refuse',
      'if levels > trees.MAX_DEPTH then break end if false then journal.refuse',
      'a long chain becomes a circle',
    ],
  ),
  ...of(
    72,
    'lib/family/branches.lua',
    ['if child_doc.has_children then stand(id, doc, child, child_doc) end', '', 'grandchildren live on'],
    ["if next_page ~= '0' then write.items(", 'if false then write.items(', 'children of the second page live on'],
    [
      "elseif more then cache.change(me.id, doc, fields.input_during_run, '1')",
      "elseif false then cache.change(me.id, doc, fields.input_during_run, '1')",
      'a family is left half way',
    ],
    [
      'if waits then me.at = time.now + 1000',
      'if false then me.at = time.now + 1000',
      'a deletion does not wait for runs',
    ],
    ["(not deletes or top_doc.delete_requested == 'f')", 'true', 'a restored job is removed anyway'],
    ['  leases.uncount_run(me.id, doc)\n', '', 'going through many looks like running wild'],
    [
      '  ending.terminate_one(doc.family_top, top_doc)\n  if top_doc.place',
      '  if true then return done, false, false end\n  if top_doc.place',
      'the top of a family stays',
    ],
  ),
]

const counting: Mutation[] = [
  ...of(
    45,
    'lib/runtime/tally.lua',
    ['if front == gone[i]:sub(1, 13) then front = nil break end', '', 'a leased job stays in front'],
    [
      '  if not front and n - packed > #kept / 2 then front = ',
      '  if false then front = ',
      'the next job is not checked',
    ],
    ['if not front or since < front then front = since end', 'front = since', 'the last job is in front'],
    ['if not is_gone[members[i]] then return', 'if true then return', 'a job about to be removed comes next'],
  ),
  ...of(
    45,
    'lib/runtime/tally.lua',
    ['    added = 0\n', '', 'existing jobs are counted twice in the first count'],
    [
      'tally.add(queue_record, place, added - #gone)',
      'tally.add(queue_record, place, added)',
      'a leaving job still counts',
    ],
  ),
  ...of(
    45,
    'lib/runtime/store.lua',
    ['if of and (left < #one[3] or tally.add(', 'if of and (false or tally.add(', 'an absent job is subtracted'],
    ['tally.add(cache.queues[of[1]], of[2], 0) < 0) then', 'false) then', 'there are fewer than none'],
  ),
  ...of(45, 'queries/overview.lua', [
    '  for _, place in ipairs(part) do tally.look(q, queue_record, place) end\n',
    '',
    'a count that is wrong stays so',
  ]),
  ...of(45, 'lib/look/queues.lua', [
    '    if cache.raw[redis_keys.queue_key(name)] then queues.save(name) end\n',
    '',
    'each look counts everything again',
  ]),
  ...of(45, 'lib/run/claim.lua', [
    "if from == 0 and want.tier == '' then tally.heads[got.key] = members end",
    'tally.heads[got.key] = members',
    'the next job is searched after the ones that stay',
  ]),
]

const history: Mutation[] = [
  ...of(
    82,
    'lib/queue/counts.lua',
    ['  if is_over then keep_day(q, queue_record) end\n', '', 'a day that is over is lost'],
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
    ['histogram[at] = histogram[at] + n', 'histogram[at] = histogram[at]', 'nobody has waited'],
    ['kind .. numbers.int(moment % most) end', 'kind .. numbers.int(moment) end', 'places are not used again'],
  ),
  ...of(82, 'scripts/commit.lua', [
    'if ids[1] then counts.waited',
    'if false then counts.waited',
    'no wait is reported',
  ]),
  ...of(82, 'lib/look/series.lua', [
    "if kind == 'm' then waited",
    'if false then waited',
    'a minute shows the longest wait of its hour',
  ]),
]

const amounts: Mutation[] = [
  ...of(
    73,
    'lib/port/write.lua',
    [
      '  if waiting + more <= MAX_WAITING then return end\n',
      '  if true then return end\n',
      'any number of values waits at a port',
    ],
    ['pushed - taken + #items > MAX_WAITING or not', 'not', 'a message to a full port fails its publisher'],
  ),
  ...of(73, 'lib/port/write.lua', [
    'if write.said[what] > most then',
    'if false then',
    'one write says any number of messages',
  ]),
  ...of(
    73,
    'lib/port/write.lua',
    ['    if #channels > 0 then write.charge(channels, #items) end\n', '', 'messages of ports are not counted'],
    ['  if bytes * n > MAX_COPIED then', '  if false then', 'a value becomes as many as it has targets'],
    [
      'if bytes * n > MAX_COPIED and i > 1 then return i - 1 end',
      '',
      'values are copied at once, however large together',
    ],
    ['math.max(1, math.floor(MAX_MOVE / n))', 'MAX_MOVE', 'values are copied at once, however many together'],
    [
      "  if default then check_copies(id, dir, port, 'a default', #default, n) end\n",
      '',
      'a default becomes as many as it has targets',
    ],
    ['n * #items > write.budget or', '', 'one script puts many messages into many ports'],
    ['n * tables.bytes(items) > write.bytes_left or', '', 'one script puts large messages into many ports'],
  ),
  ...of(73, 'lib/port/relay.lua', [
    'math.min(most, math.floor(write.bytes_left / #oldest[1]))',
    'most',
    'a relay puts large messages into many ports at once',
  ]),
  ...of(73, 'lib/port/write.lua', [
    '  if #cache.writes.messages > MAX_LIVE then return end\n',
    '',
    'any number is published outside',
  ]),
  ...of(73, 'queries/list.lua', [
    'if bytes > MAX_PAGE and #jobs > 0 then return false end',
    '',
    'a page of large jobs is too large for anybody',
  ]),
  ...of(73, 'queries/list.lua', [
    '  if read_bytes > MAX_READ then return false end\n',
    '',
    'a page reads all jobs, however large they are',
  ]),
  ...of(73, 'lib/run/finish.lua', [
    'kin.memo.roots, write.said.messages, write.said.names = nil, 0, 0',
    'kin.memo.roots = nil',
    'messages of other runs in the batch count against a run',
  ]),
]

const sizes: Mutation[] = [
  ...of(
    84,
    'lib/job/values.lua',
    [
      '  if values.has_room(id, doc, more or 0) then return end\n',
      '  do return end\n',
      'a job holds any number of bytes',
    ],
    ['  if rough then set_size(id, doc, count(id, doc)) end\n', '', 'deleted values are counted forever'],
    ['    values.add(id, doc, #value)\n', '', 'values next to the document are not counted'],
    [
      'if known then values.add(id, doc, -#known) else values.lose(id, doc) end',
      '',
      'a value that is replaced counts still',
    ],
    ['(values.added[id] or 0) + #(cache.raw', '#(cache.raw', 'effects of one call are not counted together'],
    [
      '  if counted[key] <= MOST_FIELDS then return end\n',
      '  do return end\n',
      'a job has any number of fields and ports',
    ],
    ['  if doc[field] then return end\n', '', 'a field that is set again counts twice'],
    [' + #(cache.raw[redis_keys.key_of(id)] or', ' + #(', 'small values are not counted'],
  ),
  ...of(
    84,
    'lib/runtime/lists.lua',
    [
      '      if list.push[1] then values.add(list.id, cache.docs[list.id], tables.bytes(list.push)) end\n',
      '',
      'waiting values are not counted',
    ],
    ['      if list.pop > 0 then values.lose(list.id, cache.docs[list.id]) end\n', '', 'taken values still count'],
  ),
  ...of(84, 'lib/run/ops/on_records.lua', ['  values.add(me.id, doc, #name + #value)\n', '', 'steps are not counted']),
  ...of(84, 'lib/port/write.lua', [
    ' or not values.has_room(id, doc, tables.bytes(items)) then',
    ' then',
    'a message to a full job fails its publisher',
  ]),
  ...of(84, 'lib/job/ending.lua', ['  values.lose(id, doc)\n', '', 'steps count when they have gone']),
  ...of(84, 'lib/job/aliases.lua', [
    '  if #list >= MOST_ALIASES then',
    '  if false then',
    'a job has any number of aliases',
  ]),
]

const warm: Mutation[] = [
  ...of(
    83,
    'lib/queue/standby.lua',
    [
      'tonumber(till) <= time.now then return nil',
      'false then return nil',
      'a lane is called whose time to wait is over',
    ],
    ['time.now - emptied >= period', 'false', 'lanes of a queue that is seldom used wait'],
    ['cache.queue(q).paused or time.now', 'time.now', 'a lane waits for a stopped queue'],
    [' or warm_lane(q) then', ' then', 'all lanes of a queue wait'],
    ["journal.push(cache.writes.messages, { ns .. 'call:' .. lane, 'ready' })\n", '', 'nobody calls'],
    ['  standby.cool_down(q, lane)\n  lanes.set', '  lanes.set', 'a lane is called for each job'],
    ['lanes.set(q, lane, time.now + lanes.BELL)\n  return 1', 'return 1', 'a lost call is not found'],
    ['return 1', 'return 0', 'the lane that was called is rung for besides'],
    [
      'lanes.set(q, lane, time.now + period + lanes.BELL)',
      'lanes.set(q, lane, nil)',
      'a lane that waits keeps no place',
    ],
  ),
  ...of(
    83,
    'scripts/commit.lua',
    [
      'if cache.queue(queue_name).warm then standby',
      'if false then standby',
      'a lane that waited leaves when it has looked',
    ],
    ["leave == 'next' and 1 or 0", '0', 'no lane follows a leaving lane'],
  ),
]

const handed: Mutation[] = [
  ...of(
    92,
    'lib/queue/standby.lua',
    ['#tokens + n <= MOST_HANDED and ', '', 'any number is leased before the lane reports one'],
    [' and time.now - since <= UNHEARD', '', 'jobs are leased to an unresponsive lane'],
    [
      'if not lane or cache.queue(q).paused then return nil',
      'if not lane then return nil',
      'a stopped queue leases jobs',
    ],
    [
      '  if not before[1] then lanes.set(q, lane, time.now + lanes.BELL) end\n',
      '',
      'a lane that is deaf keeps its place',
    ],
    ["table.concat(before, ' ') .. ' ' .. ", '', 'only the last of the leased jobs is known'],
    [
      ' or nil) end\n  return waits',
      ' or cache.queue(q).handed) end\n  return waits',
      'a lane gets reported jobs again',
    ],
    ['left[1] and not asks and', 'left[1] and', 'a retry does not get the jobs of a moment ago'],
    [' and time.now - since < ON_ITS_WAY', '', 'a lane with constant commits does not get unheard jobs'],
    ['  return waits and {} or left\n', '  return left\n', 'jobs on their way are leased twice'],
    ['    if not tables.has(heard, token) then', '    if true then', 'a lane gets the jobs it has heard'],
  ),
  ...of(
    92,
    'lib/run/eager.lua',
    [
      "  local lane = #members > 0 and tally.is_empty(q, 'ready') and standby",
      '  local lane = #members > 0 and standby',
      'later jobs are leased first',
    ],
    [
      '  for _, member in ipairs(members) do\n    if pieces.number_in(member) then return end\n  end\n',
      '',
      'pieces are taken apart',
    ],
    ['  tokens.of_lane(lane)\n', '', 'a token does not say whose lane it is in'],
    ['calls = 0, max = #members', 'calls = -1, max = #members', 'calling jobs are leased to a lane without free calls'],
    ['lease = lanes.BELL, begun = 0', 'lease = lanes.LANE, begun = 0', 'an unheard call is found late'],
    ['lease = lanes.BELL, begun = 0', 'lease = lanes.BELL, begun = 1', 'an unheard call counts as a run'],
    ['  standby.hand(q, lane, tokens.of(ids))\n', '', 'an unheard job is never leased again'],
    ['bytes > MOST_TOLD or ', '', 'a call carries large values'],
    ['or not snapshot.is_plain(row) then', 'then', 'a run starts without the values next to its document'],
    ['  if n > 0 then counts.waited(q, 0, n) end\n', '', 'they are not counted among the waiting jobs'],
    [
      '    if not cache.writes.zsets[index][member] then journal.put(cache.writes.zsets[index], member, nil) end\n',
      '    journal.put(cache.writes.zsets[index], member, nil)\n',
      'an unleased job is nowhere',
    ],
    ['  journal.put(places.to_ring, q, left > 0 and left or nil)\n', '', 'the lane is called besides'],
  ),
  ...of(
    92,
    'scripts/enqueue.lua',
    ['eager.hand_over(tagged)\n', '', 'nothing is leased with a call'],
    ['eager.call_lanes()\n', '', 'nobody is called'],
  ),
  ...of(
    92,
    'scripts/commit.lua',
    ['if laned and cache.queue(queue_name).handed then', 'if false then', 'an unheard job waits for its lease to end'],
    ["#runs == 0 or leave ~= ''", '#runs == 0', 'a lane leaves without its leased jobs'],
  ),
  ...of(92, 'lib/run/claim.lua', ['    tokens.keep(id, doc.token)\n', '', 'a retry gets the lease once']),
  ...of(94, 'scripts/commit.lua', [
    ' and claim.is_overtaken() then',
    ' and false then',
    'a claim misses newly ready jobs',
  ]),
  ...of(98, 'lib/run/claim.lua', [' or next(cache.writes.lists) then', ' then', 'a claim misses earlier writes']),
  ...of(
    93,
    'lib/runtime/leased.lua',
    ['n <= leased.MOST', 'true', 'the document of a queue grows'],
    [
      'if till and newly_lent[member] and not held[member] then n = n + 1 end',
      '',
      'jobs that come together are separated',
    ],
    ['till and newly_lent[member] and has_room', 'till and has_room', 'a lease is stored in two places'],
    [
      "      tally.add(queue_record, 'leases', (till and 1 or 0) - (held[member] and 1 or 0))\n",
      '',
      'leases in the document are not counted',
    ],
  ),
  ...of(
    93,
    'lib/queue/due.lua',
    [
      'if till <= time.now then ids[#ids + 1] = id else',
      'if till > time.now then',
      'a lease in the document never ends',
    ],
    [' else next_moment = math.min(next_moment, till) end', ' end', 'no check happens when the next lease ends'],
  ),
  ...of(93, 'lib/job/places.lua', [
    'if doc.place == PLACE.leased then journal.put(leased.newly_lent, id, false) elseif place',
    'if place',
    'a renewed lease is stored in two places',
  ]),
  ...of(93, 'lib/runtime/tally.lua', [
    '  local members = tally.in_document(q, place)\n',
    '  local members = {}\n',
    'a look shows half of the runs',
  ]),
  ...of(
    94,
    'scripts/commit.lua',
    ['laned and not head and claim', 'laned and claim', 'a wrong count hides jobs from every lane'],
    ['claim.finds_nothing(queue_name)', 'true', 'a lane gets nothing with its commits'],
  ),
  ...of(
    94,
    'lib/run/claim.lua',
    ['    if score then return false end\n', '', 'jobs made ready by a commit are not leased with it'],
    ["  return tally.is_empty(q, 'ready')\nend", '  return true\nend', 'jobs made ready by other calls are not leased'],
  ),
]

const ported: Mutation[] = [
  ...of(
    104,
    'lib/runtime/pieces.lua',
    [
      "piece.own and text .. '\\n' .. piece.own or text",
      'text',
      'values waiting at ports of a piece are lost on lease',
    ],
    [
      "for field, list in pairs(cjson.decode(piece.own or '{}')) do",
      'for field, list in pairs({}) do',
      'a job that leaves its piece loses values waiting at its ports',
    ],
    [
      "cjson.encode(list[place] .. '') end",
      "cjson.encode(list[1] .. '') end",
      'all jobs of a piece have the values of the first',
    ],
  ),
  ...of(
    104,
    'lib/run/packed.lua',
    [
      "{ port, cjson.decode(own['vi:' .. port][i]) }",
      '{ port, {} }',
      'values of jobs that cannot wait in pieces are lost',
    ],
    [
      'spec.tail = spec.tail:gsub(\'"i:\' .. port .. \'":"%d+,0"\', \'"i:\' .. port .. \'":"0,0"\', 1)',
      'spec.tail = spec.tail',
      'values of jobs that cannot wait in pieces count twice',
    ],
  ),
  ...of(
    105,
    'lib/run/packed.lua',
    ["  cache.change_piece(run.piece, piece, 'common', common)\n", '', 'reads by runs of a piece are not recorded'],
    ["  cache.change_piece(run.piece, piece, 'own', own)\n", '', 'writes by runs of a piece are lost'],
    [
      "  local keep = ending.removal('p' .. run.piece, doc, 'c')\n",
      '  local keep = time.now + (tonumber(doc.retain) or 86400000)\n',
      'a piece that input can wake goes',
    ],
  ),
  ...of(
    106,
    'lib/run/packed.lua',
    [
      '  if found == 0 or common:find(\'"i:[%w_]+":"[1-9]%d*,0"\') then return nil, nil end\n',
      '',
      'a run of a piece writes to a port that is not there',
    ],
    [
      'if found == 0 or common:find(\'"i:[%w_]+":"[1-9]%d*,0"\') then',
      'if found == 0 then',
      'unread values of a run of a piece are lost',
    ],
    [
      "  if hints.hears('/sidejob/log') then return false end\n",
      '',
      'the log misses reads and writes by runs of a piece',
    ],
  ),
  ...of(106, 'lib/run/finish.lua', [
    " or run.size > 1 and 'later'",
    '',
    'effects of runs of a piece are lost if they cannot end together',
  ]),
]

const marks: Mutation[] = [
  ...of(
    132,
    'lib/runtime/cache.lua',
    [" == '^' and not chosen[field] end", " == '^' end", 'any text like the mark is taken for it'],
    ...[
      'class',
      'created_by',
      'tag',
      'child_name',
      'group',
      'limits',
      'held_limits',
      'reserved_limit',
      'waiting_limit',
    ].map(
      (name): Change => [
        " == '^' and not chosen[field] end",
        ` == '^' and (not chosen[field] or field == fields.${name}) end`,
        `${name} that is the mark is taken for it`,
      ],
    ),
  ),
  ...of(132, 'lib/doctor/expected.lua', [
    'cache.is_beside(field, value) and',
    "value == '^' and",
    'the doctor misses unwanted entries, and takes away what a job is called',
  ]),
]

const packed: Mutation[] = [
  ...of(86, 'lib/job/places.lua', [
    '      if till then places.soonest(doc.queue, queue_fields.next_lease, till) end\n',
    '',
    'jobs that left a piece with an expired lease are not checked',
  ]),
  ...of(
    85,
    'lib/run/packed.lua',
    ["    cache.count_packed(q, 'ready', held - 1)\n", '', 'a piece counts as one job'],
    ['  for from = 0, n - 1, pieces.SIZE do', '  for from = 0, 0 do', 'only the first piece is made'],
    [' and not specs.moment_of(spec) and', ' and', 'jobs that wait for a time wait in pieces'],
    [' and not sides.of(spec.queue, spec.class) and', ' and', 'jobs of pull workers wait in pieces'],
    [' and not hints.hears_all_jobs()\nend', '\nend', 'a listener to all misses them'],
    ['if doc.quota_bytes then quota.add(doc.api_key, -n, 0) end', '', 'an API key’s jobs count forever'],
    ["if quota_of ~= '' then quota.add(quota_of, n, 0) end", '', 'an API key’s jobs do not count'],
  ),
  ...of(85, 'lib/job/ids.lua', [
    'last_id = math.ceil((last + 1) / 100) * 100 - 1',
    'last_id = last',
    'a piece does not begin with a hundred',
  ]),
  ...of(87, 'lib/runtime/pieces.lua', [
    "piece.state == '' and piece.first or",
    'false or',
    'a job that leaves its piece goes behind the rest of it',
  ]),
  ...of(85, 'lib/runtime/pieces.lua', ['low + place - 1)', 'low)', 'all of a piece have one moment']),
  ...of(
    86,
    'lib/run/packed.lua',
    [
      "want.place ~= '' or want.lane == '' or piece.n > room or",
      "want.place ~= '' or want.lane == '' or",
      'leases exceed the free room',
    ],
    ['  cache.count_packed(q, from, 1 - piece.n)\n', '', 'an entry removed from an index still counts'],
    ['  cache.count_packed(q, to, piece.n - 1)\n', '', 'an entry added to an index does not count'],
    ['  if under ~= token then return nil end\n', '', 'any token ends a piece'],
    ['if not piece or till <= time.now or lane', 'if not piece or lane', 'a piece ends after its lease'],
    [
      "counts.add(doc.queue, doc.class, 'completed', n)",
      "counts.add(doc.queue, doc.class, 'completed', 1)",
      'a piece is counted as one run',
    ],
    ['  if keep > time.now then\n    if doc', '  if true then\n    if doc', 'a job to be removed at once stays'],
    [':gsub(\'"le":"%d+",\', \'"le":"\' .. till .. \'","bg":"1",\', 1)', '', 'a renewed lease ends in the text'],
    ['.. till .. \'","bg":"1",\', 1)', ".. till .. '\",', 1)", 'a run of a piece that was extended has not begun'],
    ['(begun and \'"bg":"1",\' or \'\')', '\'"bg":"1",\'', 'a job that waited for the rest of its lane counts as lost'],
    ['|completed","l"', '|failed","l"', 'a run that is committed again hears that it failed'],
  ),
  ...of(
    86,
    'scripts/commit.lua',
    [
      'not cache.queue(queue_name).batch and math.min(wide, lanes.WIDE) or 0',
      'math.min(wide, lanes.WIDE)',
      'a queue’s own batch is passed over',
    ],
    ['math.min(wide, lanes.WIDE)', 'wide', 'a lane takes any number of pieces'],
  ),
  ...of(
    86,
    'lib/run/claim.lua',
    ['(number and math.max(room, wide) or room)', 'math.max(room, wide)', 'single jobs exceed the requested number'],
    ['has_all(want, got) or (piece.n', '(piece.n', 'jobs of a piece exceed the requested number one by one'],
  ),
  ...of(86, 'scripts/extend.lua', ['or till <= time.now or', 'or', 'a lease of a piece outlasts its end']),
  ...of(86, 'scripts/tick.lua', [
    "places.to_ring[q] = tally.count(q, 'ready')",
    "places.to_ring[q] = redis.call('ZCARD', redis_keys.queue_key(q, 'ready'))",
    'the tick rings for entries',
  ]),
  ...of(86, 'lib/queue/due.lua', [
    '    if doc then retry.lose(id, doc) end\n',
    '',
    'a piece with an expired lease is not lost',
  ]),
  ...of(86, 'lib/job/retention.lua', [
    'local remove = pieces.number_in(id) and remove_piece or remove_due',
    'local remove = remove_due',
    'a piece stays forever',
  ]),
  ...of(86, 'lib/run/claim.lua', [
    'or (number and packed.lent(number, under)) then',
    'then',
    'a repeated request does not get its pieces again',
  ]),
  ...of(
    87,
    'lib/runtime/cache.lua',
    [
      "piece.mask:sub(1, at - 1) .. '0' .. piece.mask:sub(at + 1)",
      'piece.mask',
      'a job leaves its piece and stays in it',
    ],
    [
      '  if piece.n > 0 then cache.count_packed(q, place, -1) else',
      '  if piece.n == 0 then',
      'a job that leaves is counted twice',
    ],
    ['  journal.put(cache.loose, id, true)\n', '', 'a job that leaves stands nowhere'],
    ['journal.put(cache.docs, id, doc)', 'cache.docs[id] = doc', 'a refused run leaves its piece half done'],
  ),
  ...of(
    87,
    'lib/run/packed.lua',
    ["lane == '' or packed.is_heard(run.piece) then", "lane == '' then", 'a later listener misses ends'],
    ['not is_within(piece.mask, run.mask) or run.size', 'false or run.size', 'unfinished jobs end with the rest'],
    ['  return not packed.is_heard(number)\n', '  return true\n', 'a listener to one job misses its run'],
    [
      'globs.first(doc.class, cache.queue(doc.queue).banned or {}, want.banned) then',
      'false then',
      'a class that was banned runs',
    ],
    [" or (doc.constraints_version or '') ~= want.version then", ' then', 'jobs in pieces keep their old tags'],
  ),
  ...of(
    87,
    'scripts/commit.lua',
    [
      'if ended_together ~= run.mask then',
      'if not ended_together then',
      'jobs that left their piece are not committed',
    ],
    [
      '    answers[i] = not run.piece and finish.commit(run, lane)\n',
      "    answers[i] = not run.piece and 'lost'\n",
      'jobs that are removed separately are not committed',
    ],
  ),
  ...of(87, 'lib/run/packed.lua', [
    'if sides.own_limit(doc) or globs',
    'if globs',
    'jobs in pieces do not count against their worker',
  ]),
  ...of(87, 'lib/queue/moving.lua', [
    'if piece then ids = pieces.ids(number, piece) end',
    '',
    'jobs waiting in pieces do not move to pull workers',
  ]),
  ...of(
    88,
    'queries/inspect.lua',
    ['  return own + in_front', '  return in_front', 'jobs of the same piece are not in front'],
    ['local in_front = n > 0 and', 'local in_front = n > 0 and n or', 'a piece in front counts as one job'],
  ),
  ...of(88, 'lib/runtime/entries.lua', [
    '    for _, id in ipairs(piece and pieces.ids(number, piece) or {}) do',
    '    for _, id in ipairs({}) do',
    'no page shows a piece',
  ]),
  ...of(
    88,
    'scripts/repair.lua',
    ['  cache.leave_piece(id)\n', '', 'a duplicate job stays'],
    ["if not is_there then redis.call('ZREM', key, member) elseif", 'if', 'an entry of a piece that is gone stays'],
  ),
  ...of(88, 'lib/runtime/tally.lua', [
    'entries + ((cache.queue(q).packed or {})[redis_keys.letters[place]] or 0) or 0',
    'entries or 0',
    'a recount counts entries',
  ]),
]

const told: Mutation[] = [
  ...of(
    90,
    'scripts/commit.lua',
    ["    cache.set_text(ns .. 'rung', time.now_text)\n", '', 'the time of a bell is unknown'],
    ['  if there[bell] then\n', '  if true then\n', 'any claimed bell counts as one'],
  ),
  ...of(91, 'lib/port/log.lua', ['job_doc.class or', 'false or', 'entries have no class']),
  ...of(91, 'lib/port/log.lua', [
    'fault_doc or (job and cache.find(job))',
    'fault_doc',
    'writes of runs have no class',
  ]),
]

const classes: Mutation[] = [
  ...of(
    97,
    'lib/queue/class_counts.lua',
    ['      if lines >= MOST then', '      if false then', 'a text grows by every class'],
    ['      lines = lines + 1\n', '', 'a text grows by every class of one call'],
    ['size_of(beside) >= MOST_BESIDE', 'false', 'counts next to the text grow by every class'],
    [
      'if text and not is_of_today then cache.set_text',
      'if false then cache.set_text',
      'counts by class of a day are lost when it ends',
    ],
    [
      'if is_read and beside then cache.change_queue',
      'if false then cache.change_queue',
      'counts next to the text are counted again',
    ],
    ['while ENDS[bucket] and ms > ENDS[bucket] do bucket = bucket + 1 end', '', 'all runs are in the first bucket'],
    ['(of[at] or 0) + ms * n', '(of[at] or 0) + ms', 'the jobs of a piece took as long as one'],
    ['math.max(0, run[2] - time.moment', 'math.max(0, time.now - moment', 'a run has waited while it ran'],
  ),
  ...of(
    128,
    'lib/queue/class_counts.lua',
    [
      "numbers.int(hour % class_counts.HOURS)), numbers.int(hour) .. '\\n' .. text)",
      "numbers.int(hour % class_counts.HOURS)), numbers.int(hour) .. '\\n' .. with(text, of))",
      'the first counts of an hour belong to the one before',
    ],
    ['      cache.change_queue(q, queue_fields.class_hour, hour)\n', '', 'each count of an hour is its first'],
    ['cache.queue(q).class_hour ~= hour', 'not cache.queue(q).class_hour', 'all is of the first hour'],
    ['numbers.int(hour % class_counts.HOURS)', 'numbers.int(hour)', 'texts of hours are as many as there are hours'],
    ['is_read = is_first or cache.raw', 'is_read = cache.raw', 'counts next to the text belong to another hour'],
  ),
  ...of(128, 'queries/classes.lua', [
    'most_bytes > 0 and left >= 0',
    'most_bytes > 0',
    'hours of all queues are read, however much there is of them',
  ]),
  ...of(97, 'lib/queue/counts.lua', [
    'if class then class_counts.add',
    'if false then class_counts.add',
    'nothing is counted by class',
  ]),
]

const settings: Mutation[] = of(
  110,
  'scripts/settings.lua',
  [
    "  if text ~= '' then cache.change_queue(queue_name, field, tonumber(text)",
    "  text = text ~= '' and text or '0'\n  do cache.change_queue(queue_name, field, tonumber(text)",
    'an omitted setting is reset',
  ],
  [' > 0 and tonumber(text) or nil) end', ') end', 'a reset setting is 0'],
  [
    'numbers.int(queue_record.most_lanes or 0)',
    'numbers.int(tonumber(lanes) or 0)',
    'the previous number of lanes is not returned',
  ],
  ["queue_record.paused and '1' or ''", "paused == '1' and '1' or ''", 'the previous pause is not returned'],
  ["queue_record.mode or 'push'", "mode ~= '' and mode or 'push'", 'the previous mode is not returned'],
)

const logs: Mutation[] = [
  ...of(
    111,
    'lib/port/log.lua',
    ['tonumber(job_doc.history or 0) > 0', 'false', 'no job has a log of its own'],
    ['tonumber(job_doc.history or 0) > 0', 'job_doc.history', 'a job that keeps nothing has a log of its own'],
    ["level .. '\\n' .. entry", "'\\n' .. entry", 'an own log tells no levels'],
  ),
  ...of(111, 'lib/family/erase.lua', [", history = 'log' }", ' }', 'the log of a job stays when the job goes']),
  ...of(111, 'lib/runtime/store.lua', [
    'if not cache.writes.dels[e[1]] then',
    'do',
    'a job that has gone leaves a log',
  ]),
]

const pastRuns: Mutation[] = [
  ...of(
    117,
    'lib/run/leases.lua',
    ["(doc.history and told(id, doc, more and more.did) or '')", "''", 'nothing further is reported of kept runs'],
    ["(doc.history and told(id, doc, more and more.did) or '')", 'told(id, doc, more and more.did)', 'others pay'],
    [
      'cache.count(id, doc, fields.runs_noted)',
      "cache.change(id, doc, fields.runs_noted, '1')",
      'each run is the first',
    ],
    ['numbers.int(time.moment_of_sequence(doc.sequence))', 'doc.ran_at', 'a run is reported as ready when it began'],
    ["(doc.next_commit or '0')", "'0'", 'checkpoints are not counted'],
    ['or doc.run_did or', 'or', 'effects of a lost run up to its last checkpoint are not reported'],
    ['fields.process, fields.run_did }', 'fields.process }', 'a run is reported with the effects of the previous one'],
  ),
  ...of(
    117,
    'lib/run/did.lua',
    ['if tonumber(doc.history or 0) == 0 then return end', '', 'other jobs record their effects'],
    ['if all.bytes + #what > MOST then', 'if false then', 'all effects of a run are recorded, in any number'],
    ['all.more = all.more + n', '', 'nothing says that there was more'],
    ['(all.of[what] or 0) + n', 'n', 'repeated effects are not added'],
    [
      "doc.run_did and readable.decode(doc.run_did, redis_keys.key_of(run.id) .. ' ' .. fields.run_did) or",
      '',
      'effects before a checkpoint are forgotten',
    ],
  ),
  ...of(117, 'lib/run/finish.lua', ['  did.keep(run)\n', '', 'a checkpoint forgets the effects']),
  ...of(117, 'lib/run/leases.lua', [
    'numbers.int((tonumber(doc.failures) or 0) + 1) .. leases.of_version(more and more.version)',
    'numbers.int((tonumber(doc.failures) or 0) + 1)',
    'the version of the code is not recorded',
  ]),
  ...of(117, 'lib/run/packed.lua', [
    "',completed,1' .. leases.of_version(run.version) ..",
    "',completed,1' ..",
    'jobs that end with their piece record no version',
  ]),
  ...of(117, 'lib/run/ops/sayings.lua', [
    'function says.version(run, version) run.version = version end',
    'function says.version() end',
    'the version of a worker outside the deployment is not recorded',
  ]),
  ...of(
    117,
    'lib/run/ops/on_ports.lua',
    ["if me.note then me.note('r'", "if false then me.note('r'", 'reads of a run are unknown'],
    ["if me.note then me.note('w'", "if false then me.note('w'", 'writes of a run are unknown'],
    ["if me.note then me.note('p'", "if false then me.note('p'", 'channels of a run are unknown'],
  ),
  ...of(117, 'lib/run/ops/on_families.lua', ['if me.note then', 'if false then', 'new jobs of a run are unknown']),
]

const recordedValues: Mutation[] = [
  ...of(131, 'lib/run/ops/sayings.lua', [
    '  values.set_value(run.id, cache.need(run.id), fields.last_values, recorded)\n',
    '',
    'the values of a run are not recorded',
  ]),
]

const keptInputs: Mutation[] = [
  ...of(
    118,
    'lib/run/did.lua',
    ["kept['token'] == run.token and kept or", 'kept or', 'inputs taken by an earlier run are reported for this one'],
    ['doc.inputs_kept and doc.next_commit and', 'false and', 'a checkpoint is forgotten'],
    ['kept.bytes = kept.bytes + PER_VALUE * n\n', '', 'any number of small values is kept'],
    ['      kept.bytes = kept.bytes + #item\n', '', 'large values are kept'],
    ['if kept.bytes > MOST_INPUTS then kept.of = {} end', '', 'part of an oversized value is kept'],
  ),
  ...of(118, 'lib/run/finish.lua', ['  did.keep_inputs(run)\n', '', 'nothing is kept of inputs']),
  ...of(
    118,
    'lib/run/ops/on_ports.lua',
    ["and from.dir == 'i' then me.keep(", 'then me.keep(', 'values of outputs are kept as inputs'],
    ['if me.keep and count > 0 and', 'if me.keep and', 'ports of which nothing was taken are kept'],
  ),
  ...of(118, 'lib/family/erase.lua', ["inputs_kept = 'inputs', ", '', 'inputs outlast their job']),
  ...of(118, 'lib/runtime/cache.lua', [
    "{ 'strings', 'hashes', 'sets', 'lists' }",
    "{ 'hashes', 'sets', 'lists' }",
    'inputs of the last run outlast a job removed at once',
  ]),
]

const definitions: Mutation[] = of(
  112,
  'scripts/register.lua',
  ['current[class] ~= replaced then', 'false then', 'a definition overwrites another that was never read'],
  ["replaced ~= '' and", 'false and', 'two who change one definition overwrite each other'],
  ["replaced ~= '' and current", 'current', 'an existing class is not registered'],
  ["definition = current[class] or ''", "definition = ''", 'the resulting class is not returned'],
  ['if function_of then', 'if false then', 'a registration takes the jobs of a function away from it'],
  ['if function_of then', 'if current[class] then', 'a registration cannot be replaced by another'],
)

const failedByKind: Mutation[] = [
  ...of(
    133,
    'lib/queue/kinds.lua',
    ['  note(doc, -1)\n', '', 'jobs that leave stay counted in their minute'],
    ['  note(doc, 1)\nend', 'end', 'kinds are not listed'],
    [
      'kinds.member(kinds.of(doc), id), false)\n  note',
      'kinds.member(kinds.of(doc), id), 0)\n  note',
      'jobs that are retried stay in the index',
    ],
    [
      'fields.error_kind, nil)\nend',
      'fields.error_kind, doc.error_kind)\nend',
      'a job that fails again has its old minute',
    ],
    ["('0'):rep(16 - #id)", "('0'):rep(0)", 'ids of other lengths are in a wrong order'],
    ["before ~= '' and", 'false and', 'each page is the first'],
    ['if #lines <= MOST then return text end', 'if true then return text end', 'every kind is kept'],
    ['return a.last > b.last', 'return a.last < b.last', 'new kinds are dropped'],
    [
      "return '+\\n' .. table.concat(kept)",
      "return '\\n' .. table.concat(kept)",
      'lists leave out jobs of dropped kinds',
    ],
    ['newest - minute < RECENT and', 'true and', 'minutes are never joined'],
    ['if n > 0 and newest - tonumber(word) < PAST then', 'if n > 0 then', 'minutes are kept forever'],
    ['if one[2] < 0 and not counts[word] then', 'if false then', 'jobs of joined minutes stay counted'],
    [
      'queue_record.kinds_below ~= kinds.WHOLE and not has_failed_jobs(queue_record)',
      'true',
      'old failed jobs are never found',
    ],
    ['  if not is_listed(doc.queue, kind) then note(doc, 1) end\n', '', 'a repair lists no kinds'],
    ['      if scores[i] then kinds.leave(id, doc) end\n', '', 'a job keeps its place without a kind'],
    ['  cache.del(index_of(q))\n', '', 'an index that is written again keeps its wrong entries'],
  ),
  ...of(133, 'lib/run/retry.lua', [
    '  run.kind = nil\n',
    '',
    'a refused run has the kind of the error that its function reported',
  ]),
  ...of(
    133,
    'lib/job/places.lua',
    ['  if doc.place == PLACE.failed then kinds.leave(id, doc) end\n', '', 'nothing leaves the index'],
    ['  if place == PLACE.failed then kinds.enter(id, doc) end\n', '', 'nothing enters the index'],
  ),
  ...of(133, 'lib/run/ops/on_records.lua', [
    '  if doc.place == PLACE.failed then kinds.leave(id, doc) end\n',
    '',
    'a renamed job stays at its old kind',
  ]),
  ...of(
    133,
    'queries/list.lua',
    ['    if has_dropped then return nil end\n', '', 'lists leave out jobs of dropped kinds'],
    ['    if not kinds.is_whole(name) then return nil end\n', '', 'lists leave out jobs of earlier versions'],
    ["    wanted_of[#wanted_of + 1] = { name, '' }\n", '', 'lists leave out jobs without a kind'],
    ["return own == '' or own == kind", 'return true', 'a list of a kind has other jobs'],
    ['while ids[1] and tonumber(ids[#ids]) < down_to do', 'while false do', 'a page passes over jobs of another kind'],
  ),
]

export const mutations: Mutation[] = [
  ...failedByKind,
  ...definitions,
  ...keptInputs,
  ...recordedValues,
  ...pastRuns,
  ...packed,
  ...marks,
  ...ported,
  ...warm,
  ...handed,
  ...lanes,
  ...runs,
  ...places,
  ...time,
  ...families,
  ...limited,
  ...listening,
  ...oneTime,
  ...channels,
  ...kept,
  ...callbacks,
  ...flows,
  ...aged,
  ...breakers,
  ...schemas,
  ...reaching,
  ...processes,
  ...branching,
  ...counting,
  ...history,
  ...amounts,
  ...sizes,
  ...told,
  ...classes,
  ...settings,
  ...logs,
]
