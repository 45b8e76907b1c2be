import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    85,
    'lib/run/packed.lua',
    ["    cache.count_packed(q, 'ready', held - 1)\n", '', 'a piece counts as one job'],
    ['  for from = 0, n - 1, pieces.SIZE do', '  for from = 0, 0 do', 'only the first piece is created'],
    [' and not specs.moment_of(spec) and', ' and', 'jobs that wait for a time wait in pieces'],
    [' and not sides.of(spec) and', ' and', 'jobs of pull workers wait in pieces'],
    [' and not hints.hears_all_jobs()\nend', '\nend', 'a listener to all jobs misses packed jobs'],
    ['if doc.quota_bytes then quota.add(doc.api_key, -n, 0) end', '', 'an API key’s jobs count forever'],
    ["if quota_of ~= '' then quota.add(quota_of, n, 0) end", '', 'an API key’s jobs do not count'],
  ),
  ...of(85, 'lib/job/ids.lua', [
    'last_id = math.ceil((last + 1) / 100) * 100 - 1',
    'last_id = last',
    'a piece does not begin with a hundred',
  ]),
  ...of(85, 'lib/runtime/pieces.lua', [
    'micros_of(piece.first) + place - 1)',
    'micros_of(piece.first))',
    'all jobs of a piece have the same time',
  ]),
  ...of(86, 'lib/job/places.lua', [
    '      if till then places.soonest(doc.queue, queue_fields.next_lease, till) end\n',
    '',
    'jobs that left a piece with an expired lease are not checked',
  ]),
  ...of(
    86,
    'lib/runtime/cache.lua',
    ['(score and 1 or -1) * (piece', '(score and 1 or 0) * (piece', 'an entry removed from an index still counts'],
    ['(score and 1 or -1) * (piece', '(score and 0 or -1) * (piece', 'an entry added to an index does not count'],
  ),
  ...of(
    86,
    'lib/run/packed.lua',
    [
      "want.place ~= '' or want.lane == '' or piece.n > room or",
      "want.place ~= '' or want.lane == '' or",
      'leases exceed the free room',
    ],
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
    ['|completed","l"', '|failed","l"', 'a repeated commit of a run is reported as failed'],
  ),
  ...of(
    86,
    'scripts/commit.lua',
    [
      'not served.batch and math.min(wide, lanes.WIDE) or 0',
      'math.min(wide, lanes.WIDE)',
      'the batch size of a queue has no effect',
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
    "places.to_ring[q] = redis.call('ZCARD', redis_keys.queue(q, 'ready'))",
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
  ...of(87, 'lib/runtime/pieces.lua', [
    "piece.state == '' and piece.first or",
    'false or',
    'a job that leaves its piece is placed behind the rest of the piece',
  ]),
  ...of(
    87,
    'lib/runtime/cache.lua',
    [
      "piece.mask:sub(1, at - 1) .. '0' .. piece.mask:sub(at + 1)",
      'piece.mask',
      'a job that leaves its piece also stays in the piece',
    ],
    [
      '  if piece.n > 0 then cache.count_packed(q, place, -1) else',
      '  if piece.n == 0 then',
      'a job that leaves is counted twice',
    ],
    ['  journal.put(cache.loose, id, true)\n', '', 'a job that leaves its piece is in no index'],
    [
      'journal.put(cache.docs, id, doc)\n journal.put(cache.raw',
      'cache.docs[id] = doc\n journal.put(cache.raw',
      'a refused run leaves its piece in part',
    ],
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
  ...of(87, 'lib/queue/resort.lua', [
    'piece and pieces.ids(number, piece) or { id }',
    'piece and {} or { id }',
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
    ["if not is_there then redis.call('ZREM', key, member) elseif", 'if', 'an entry of a missing piece stays'],
  ),
  ...of(88, 'lib/runtime/tally.lua', ['entries + packed or 0', 'entries or 0', 'a recount counts entries']),
]
