import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    35,
    'lib/run/ops/on_records.lua',
    ['if not doc.followed then return', 'if true then return', 'a schedule that has ended forgets its children'],
    ["if doc.followed:sub(-2) == ',0' then", 'if true then', 'an ended schedule does not learn of a failed child'],
  ),
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
      'a follower forgets its next time',
    ],
    [
      '  elseif doc.place ~= PLACE.suspended then\n',
      '  elseif doc.place ~= PLACE.suspended and doc.place ~= PLACE.completed then\n',
      'a completed follower stays completed',
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
      'if turned then return queueing.resume(id, doc) end',
      'if turned and doc.place ~= PLACE.failed then return queueing.resume(id, doc) end',
      'a failed follower stays failed although its child is retried',
    ],
    [
      'if turned then return queueing.resume(id, doc) end',
      'if turned and doc.place == PLACE.failed then return queueing.resume(id, doc) end',
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
    ['suspended = FOLLOWED_AS.suspended', 'suspended = FOLLOWED_AS.completed', 'a suspended child counts as completed'],
    ['failed = FOLLOWED_AS.broken', 'failed = FOLLOWED_AS.completed', 'a failed child counts as completed'],
    ['terminated = FOLLOWED_AS.broken', 'terminated = FOLLOWED_AS.completed', 'a terminated child counts as completed'],
  ),
  ...of(35, 'lib/job/places.lua', [
    'was == FOLLOWED_AS.broken or is == FOLLOWED_AS.broken',
    'is == FOLLOWED_AS.broken',
    'a follower does not learn of a retried child',
  ]),
  ...of(
    35,
    'lib/family/kin.lua',
    [
      '  if parent_doc.followed then places.count_child(id, doc, parent, states.kinds[status]) end\n',
      '',
      'children created later are not counted',
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
    'elseif goes_on then',
    'elseif false then',
    'a follower fails because of a retried child',
  ]),
  ...of(35, 'lib/job/retention.lua', [
    'again = true }',
    'again = true, follow = true }',
    'the children of a follower are removed before it',
  ]),
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
    "  if not keep then cache.del(redis_keys.side(me.id, 'record')) end\n",
    '',
    'records stay after recording has stopped',
  ]),
  ...of(35, 'lib/family/erase.lua', [
    " recorded = 'record',",
    '',
    'the record of a flow stays after the flow is removed',
  ]),
  ...of(36, 'lib/port/write.lua', [
    "  if port.doc['w' .. port.field] then return write.pass(port, is_quiet) end\n",
    '',
    'values stay at the written port',
  ]),
  ...of(
    36,
    'lib/port/wires.lua',
    [
      "if from.dir == 'i' then return to.dir == 'i' and to.doc.parent == from.id end",
      "if from.dir == 'i' then return true end",
      'wires form a circle',
    ],
    ["to.dir == 'i' and to.doc.parent == parent or", "to.dir == 'i' or", 'a wire reaches a detached job'],
    ['or not wires.is_there(to) then return nil end', 'then return nil end', 'a removed port fails its writer'],
    ['if #kept < MAX_PASSED and', 'if', 'more than 20 values that passed a wire are kept'],
    ['and bytes <= MAX_PASSED_BYTES then', 'then', 'large values that passed a wire are kept'],
    ['if #cache.document(port.id) > MAX_DOCUMENT then', 'if false then', 'a large document grows with each wire'],
  ),
  ...of(36, 'lib/port/write.lua', [
    "  if owner_doc then queueing.wake(owner, owner_doc, 'own') end\n",
    '',
    'no parent is woken',
  ]),
  ...of(
    36,
    'lib/runtime/minutes.lua',
    ['for _ = 1, math.min(MINUTES, minute_now', 'for _ = 1, math.min(0, minute_now', 'all minutes count as one'],
    [
      "for count in (rest or '0'):gmatch('%d+') do counts[#counts + 1] = count end",
      "counts[#counts + 1] = '0'",
      'earlier minutes are lost',
    ],
    [
      "counts[last] == '0' do last = last - 1 end",
      "counts[last] == '0' do break end",
      'minutes without values are kept',
    ],
  ),
  ...of(
    36,
    'lib/port/ports.lua',
    [
      '  leave(port, list, n, pushed, taken)\n',
      '  lists.pop(list, n)\n  ports.set_counts(port, pushed, taken + n)\n',
      'values taken by a run are not counted',
    ],
    [
      '  leave(port, list, #items, pushed, taken)\n',
      '  lists.pop(list, #items)\n  ports.set_counts(port, pushed, taken + #items)\n',
      'taken values are not counted',
    ],
  ),
  ...of(
    36,
    'lib/port/write.lua',
    ['for _, to in ipairs(ends) do wires.watch(to) end', '', 'values taken at the ends of wires are not counted'],
    ['    items = envelope.stamped(items, math.floor(time.now / 1000))\n', '', 'the wait start of values is unknown'],
  ),
  ...of(36, 'lib/port/envelope.lua', ["flags:gsub('t%d+', '')", 'flags', 'a value has the times of all its wires']),
  ...of(
    36,
    'lib/port/define.lua',
    [
      "if text and (pushed > taken or port.doc['d' .. port.field]) then write.pass(port) end",
      '',
      'values that wait when a wire is connected stay',
    ],
    [
      '  ports.set_default(port, spec.default)\n  audience.set_channels',
      '  audience.set_channels',
      'an amended port has no default',
    ],
    ['    if ports.counts(port) then drop_port(port) end\n', '', 'a dropped port keeps its values'],
  ),
  ...of(
    36,
    'lib/run/ops/on_ports.lua',
    ["  if value and of.doc['w' .. of.field] then", '  if false then', 'a new default stays in place'],
    ['  if not own then journal.refuse', '  if false then journal.refuse', 'any run can connect wires'],
  ),
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
