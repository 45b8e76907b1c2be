import { of } from '../mutation.ts'

export const mutations = [
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
    ['and not states.ends[child.status] then', 'then', 'a parent waits for ended children'],
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
      'a parent does not wait for later children',
    ],
    [
      "if parent_doc.waits_for == '*' and not states.ends[status] then",
      'if parent_doc.waits_for and not states.ends[status] then',
      'a parent that waits for named children waits for later children',
    ],
    [
      '  if parent_doc and parent_doc.waits_for then journal.push(journal.within(queueing.settled, parent), id) end\n',
      '',
      'a parent waits for a child that has left',
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
      'an event of a child counts as own input',
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
    [
      'if own or (child and not waiting) then',
      'if own or child then',
      'an event of a child prevents the wait of its parent',
    ],
    ['if own or (child and not waiting) then', 'if own then', 'an event of a child during the run is lost'],
    [
      'if own or (child and not waiting) then',
      'if not waiting and (own or child) then',
      'a parent waits although it has input',
    ],
  ),
  ...of(25, 'lib/family/erase.lua', ['for i = #tree, 1, -1 do', 'for i = 1, 1 do', 'only the root is removed']),
  ...of(
    25,
    'lib/job/retention.lua',
    [
      'not states.has_ended(doc) or expiry.listens(member, doc)',
      'expiry.listens(member, doc)',
      'a root is removed before its descendants have ended',
    ],
    [
      'not states.has_ended(doc) or expiry.listens(member, doc)',
      'not states.has_ended(doc)',
      'a root is removed although a descendant is subscribed',
    ],
    [
      '  return has_seen(parent_doc, doc)\n',
      '  return true\n',
      'a child is removed before its parent has seen its end',
    ],
    [
      'parent_doc.branchwise_after ~= nil and parent_doc.branchwise_after == parent_doc.ended_at',
      'false',
      'an oversized family stays forever',
    ],
    [
      'if parent_doc.place == PLACE.leased or not committed[outcome] then return false end',
      'if parent_doc.place == PLACE.leased then return false end',
      'a child is removed although the run that saw its end has failed',
    ],
    [
      'if parent_doc.place == PLACE.leased or not committed[outcome] then return false end',
      'if not committed[outcome] then return false end',
      'a child is removed during a run of its parent',
    ],
    [
      'return tonumber(started) > ended or',
      'return tonumber(started) > ended or false and',
      'a child that its parent saw at once stays',
    ],
    ['local SWEEP, MAX_SWEPT = 200,', 'local SWEEP, MAX_SWEPT = 5000,', 'all jobs are removed in one slice'],
    [
      '    cache.zset(places.index_of(doc), id, time.now + RETRY_IN)\n',
      '    cache.zset(places.index_of(doc), id, numbers.never)\n',
      'a job that could not be removed is never checked again',
    ],
  ),
  ...of(
    25,
    'lib/job/expiry.lua',
    [
      'if place == PLACE.completed and has_inputs(id, doc) and not doc.relay_channel',
      'if false and not doc.relay_channel',
      'a job that input can wake is removed',
    ],
    [
      'if doc.parent or expiry.listens(id, doc) then',
      'if expiry.listens(id, doc) then',
      'a child is removed although its parent may write to it',
    ],
    [
      'if doc.parent or expiry.listens(id, doc) then',
      'if doc.parent then',
      'a job that listens to a channel is removed',
    ],
    ['(tonumber(doc.retain) or MONTH)', 'MONTH', 'a job that input can wake stays, whatever its retain'],
    ['outbox.retain() or DAY)', 'outbox.retain() or 30 * DAY)', 'ended jobs stay a month'],
  ),
]
