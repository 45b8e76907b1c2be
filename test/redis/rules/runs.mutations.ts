import { of } from '../mutation.ts'

export const mutations = [
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
    "id .. '.' .. run .. '.' .. repeats .. mark .. issued",
    "id .. '.1.constant00000'",
    'a job has one token for all of its runs',
  ]),
  ...of(
    6,
    'lib/run/finish.lua',
    [
      'if token == run.token and tonumber(n) == run.n then return answer end',
      'if token == run.token then return answer end',
      'the last commit is mistaken for a repeated checkpoint',
    ],
    ["if run.n < (tonumber(doc.next_commit) or 0) then return 'lost' end", '', 'an old checkpoint is taken again'],
    ['  leases.extend(id, doc, lanes.LANE)\n', '', 'a checkpoint does not extend the lease'],
    ['    ending.clear_steps(id, doc)\n', '', 'steps are never forgotten'],
    ['  if run.paused then\n', '  if run.paused then ending.clear_steps(id, doc)\n', 'a pause forgets the steps'],
    [
      '  cache.change(id, doc, fields.sleep_until, run.till)\n',
      '  if run.till then cache.change(id, doc, fields.sleep_until, run.till) end\n',
      'the time of one pause applies to the next pause',
    ],
    [' or doc.sleep_until) then\n', ') then\n', 'a pause lasts until a run is requested'],
    [
      '  cache.change(id, doc, fields.awaited_children, run.awaits[1] and cjson.encode(run.awaits) or nil)\n',
      '',
      'a pause ends with every run of a child',
    ],
  ),
  ...of(6, 'lib/run/ops/on_records.lua', [
    "  if doc.has_steps == 'e' then cache.drop(key) end\n",
    '',
    'steps of an ended function are used by the next function',
  ]),
  ...of(6, 'lib/run/snapshot.lua', [
    "  if doc.has_steps ~= '1' then return",
    '  if not doc.has_steps then return',
    'the next run returns results of the steps of an ended function',
  ]),
  ...of(6, 'queries/list.lua', [
    "doc.has_steps == '1' and",
    'doc.has_steps and',
    'an ended function is listed as waiting',
  ]),
  ...of(6, 'lib/run/retry.lua', [
    "  counts.add(doc, 'errors')\n",
    "  counts.add(doc, 'errors')\n  ending.clear_steps(id, doc)\n",
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
    ["is_shown and 'e' or nil", 'nil', 'steps of an ended function stay without their flag'],
    ['values.of(doc) <= MAX_SHOWN_STEPS', 'true', 'large steps outlast their function'],
    [
      'function ending.clear_steps(id, doc)\n  cache.clear(id, doc, of_steps)\n',
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
    [', tonumber(doc.sleep_until) or numbers.never)', ')', 'a pause ends at once'],
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
      'a pause receives children that it did not wait for',
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
    [
      'if n > pushed - taken then journal.refuse',
      'if false then journal.refuse',
      'a run reads more values than are waiting',
    ],
  ),
  ...of(7, 'lib/port/define.lua', [
    "pushed .. ',' .. pushed .. ',d')",
    "'0,0,d')",
    'a port that is created again counts from zero',
  ]),
  ...of(7, 'lib/port/ports.lua', [
    'ports.set_counts(port, pushed, taken + n)',
    'ports.set_counts(port, pushed - n, taken)',
    'a read is not counted',
  ]),
  ...of(
    8,
    'lib/run/finish.lua',
    [
      "cache.change(run.id, doc, fields.last_commit, run.token .. '|' .. numbers.int(run.n) .. '|' .. status)",
      '',
      'a repeated commit gets no answer',
    ],
    [
      "if lane == '' then cache.set_expiring(erase.gone_key",
      'if false then cache.set_expiring(erase.gone_key',
      'the answer is deleted with the job by its commit',
    ],
  ),
  ...of(8, 'lib/family/erase.lua', ['  keep_answer(doc)\n', '', 'the answer is deleted when the job is deleted']),
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
    'a run sees neither its own writes nor earlier writes',
  ]),
  ...of(9, 'lib/runtime/cache.lua', [
    'if waiting and waiting[field] ~= nil then return waiting[field] end',
    '',
    'a run does not see its own children',
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
    'a refused run is repeated at once, forever',
  ]),
  ...of(
    10,
    'lib/run/retry.lua',
    ['    cache.change(id, doc, fields.backoff_until, run.at)\n', '', 'a job of an unknown class comes back at once'],
    [
      '    values.set_value(id, doc, fields.last_error, run.error)\n',
      '    if run.error then values.set_value(id, doc, fields.last_error, run.error) end\n',
      'a job of an unknown class shows the error of an earlier failure',
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
    'conflicts count as a runaway',
  ]),
  ...of(11, 'lib/run/finish.lua', [
    '{ fields.failures, fields.lost_in_a_row, fields.conflicts_in_a_row, fields.deliveries, fields.unanswered, fields.wait_over }',
    '{ fields.failures, fields.lost_in_a_row, fields.deliveries, fields.unanswered, fields.wait_over }',
    'conflicts are counted across all runs',
  ]),
  ...of(11, 'lib/run/retry.lua', [
    '  leases.uncount_run(id, doc)\n  local since',
    '  local since',
    'lost runs count as a runaway',
  ]),
  ...of(11, 'lib/run/claim.lua', ['if n > RUNS_A_MINUTE then return false end', '', 'nothing stops a runaway']),
  ...of(
    12,
    'lib/run/retry.lua',
    [
      '    cache.change(id, doc, fields.backoff_until, time.now + delay)\n',
      '',
      'a failed run is retried without a backoff',
    ],
    [
      '    cache.change(id, doc, fields.backoff_until, time.now + delay)\n',
      '    if not doc.input_during_run then cache.change(id, doc, fields.backoff_until, time.now + delay) end\n',
      'input shortens the backoff of a failure',
    ],
    [
      '  cache.change(id, doc, fields.input_during_run, nil)\n  if doc.next_slot',
      '  local own = doc.input_during_run\n  cache.change(id, doc, fields.input_during_run, nil)\n  if own then\n    queueing.enqueue(id, doc, true)\n  elseif doc.next_slot',
      'input runs a job without retries left',
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
    ['  elseif doc.begun then\n', '  elseif true then\n', 'a run that never began counts as lost'],
    ['if lost >= most_lost(doc) then', 'if false then', 'a lost job never fails'],
    [
      'return tonumber(doc.max_lost) or MAX_LOST end',
      'return MAX_LOST end',
      'jobs of every class can be lost ten times',
    ],
    ['lost > 0 and time.now + backoff.lost(lost) or nil', 'nil', 'a lost job comes back at once'],
  ),
  ...of(
    13,
    'lib/run/claim.lua',
    ['if tonumber(doc.lost_in_a_row) > 1 then return 1 end', '', 'a job that was lost twice shares its claim'],
    ['math.min(want.max, want.begun) / 2', 'math.min(want.max, want.begun)', 'lost jobs are claimed in whole batches'],
    ['math.min(want.max, want.begun) / 2', 'want.max / 2', 'more lost jobs are claimed than begin'],
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
    ['or (got.n > 0 and not got.room) then', 'then', 'a claim mixes lost jobs with fresh jobs'],
    ['if got.fresh_first or (', 'if (', 'claims always prefer lost jobs'],
    [
      'if got.n == 0 and served and passed[1] then',
      'if false then',
      'lost jobs wait as long as their turn was the last',
    ],
    ['got.n > 0 and served ~= serves', 'not served and served ~= serves', 'claims always prefer other jobs'],
    ['more, seen = true, want.skip end', 'end', 'a claim that skipped lost jobs reports that it has seen all jobs'],
    [
      '  return true, from - removed, removed\n',
      '  return true, from, removed\n',
      'a pull worker skips jobs that no claim has seen',
    ],
    ['or removed > 0) and seen', ') and seen', 'a claim that only removed jobs is the last one'],
  ),
  ...of(13, 'lib/run/retry.lua', [
    '  if doc.redeliver_after then return queueing.enqueue(id, doc, true, since) end\n',
    '',
    'a lost run has no owner at once',
  ]),
  ...of(
    13,
    'lib/run/claim.lua',
    [
      'want.place == PLACE.pull and tonumber(doc.redeliver_after_ms) or want.lease',
      'tonumber(doc.redeliver_after_ms) or want.lease',
      'a lane leases a run for the time of redeliver',
    ],
    [
      '  if doc.max_deliveries and (tonumber(doc.deliveries)',
      '  if false and (tonumber(doc.deliveries)',
      'an unanswered run is leased forever',
    ],
  ),
  ...of(13, 'lib/run/leases.lua', [
    '  if doc.deliveries then cache.change(id, doc, fields.deliveries, doc.deliveries - 1) end\n',
    '',
    'a job given back again and again fails like an unanswered one',
  ]),
  ...of(13, 'lib/run/finish.lua', [
    '  cache.change(id, doc, fields.deliveries, nil)\n  cache.change(id, doc, fields.next_commit',
    '  cache.change(id, doc, fields.next_commit',
    'a checkpoint does not count as an answer',
  ]),
  ...of(13, 'lib/run/retry.lua', [
    '  cache.count(id, doc, fields.conflicts_in_a_row)\n  cache.change(id, doc, fields.deliveries, nil)\n',
    '  cache.count(id, doc, fields.conflicts_in_a_row)\n',
    'a conflict does not count as an answer',
  ]),
  ...of(
    13,
    'scripts/extend.lua',
    [
      "    if own ~= '' then cache.change(id, doc, fields.lease_length, lease) end\n",
      '',
      'a deferred answer gets a short lease after the first heartbeat',
    ],
    ["    cache.change(id, doc, fields.begun, '1')\n", '', 'a run that was extended has not begun'],
  ),
]
