import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    31,
    'lib/job/unique.lua',
    [
      'if cache.text_at(key) == id then cache.replace_text(key, nil) end',
      'cache.replace_text(key, nil)',
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
    'a key does not prevent another job',
  ]),
  ...of(31, 'lib/job/unique.lua', [
    "return q .. '\\n' .. class .. '\\n' .. key end",
    'return key end',
    'a key applies to all queues and classes',
  ]),
  ...of(
    31,
    'lib/job/create.lua',
    [
      "  if spec.unique_for == '' then unique.hold(id",
      '  if true then unique.hold(id',
      'a key held for a period is deleted with its job',
    ],
    ['  values.set_value(id, doc, fields.args, newest)\n', '', 'a debounced job runs with the first args'],
    [
      '  cache.change(id, doc, fields.not_before, moment > time.now and moment or nil)\n',
      '',
      'a debounced job runs at the time of its first request',
    ],
    ['math.min(time.now + spec.wait, most)', 'time.now + spec.wait', 'a debounced job is delayed forever'],
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
      'if doc.terminating or not waits then return unique.let_go(id, doc) end',
      '',
      'a terminating job absorbs the next request',
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
      'a key held for a period is deleted with its job',
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
    ['if known then\n  local held', 'if false then\n  local held', 'jobs requested twice are created twice'],
    [
      "if taken then return reply.refused { code = 'TAKEN', message = idempotency.USED } end",
      '',
      'one key covers two bodies',
    ],
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
      'if not ok then\n  idempotency.remember(call, {})\n  work.flush()\n  return reply.refused { code = why.code, message = why.message }\nend',
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
  ...of(32, 'lib/run/ops/of_callers.lua', [
    'if text and not look then results.drop(',
    'if false then results.drop(',
    'a result is taken again and again',
  ]),
  ...of(
    32,
    'lib/job/places.lua',
    ["cache.publish('ended:' .. id, is)", '', 'a caller that waits for a result is not called'],
    [
      '  if not doc.waited_until or not states.ends[is] then return end',
      '  if not doc.waited_until then return end',
      'a run that begins calls them',
    ],
    ['  if tonumber(doc.waited_until) > time.now then', '  if true then', 'departed callers are called'],
    ['  cache.change(id, doc, fields.waited_until, nil)\n', '', 'departed callers are never removed'],
  ),
  ...of(32, 'lib/job/ending.lua', [
    '    places.call_watchers(id, doc, status)\n',
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
      'a pull worker with an empty claim gets no jobs for a minute',
    ],
  ),
  ...of(
    33,
    'lib/run/snapshot.lua',
    ['  if not doc.has_children then return {}, 0 end\n', '', 'a claim reads children of a job without children'],
    ["  if doc.has_steps ~= '1' then return {}, '' end\n", '', 'a claim reads steps of a job without steps'],
    [
      "  local flat, bytes = {}, 0\n  for _, port in ipairs(port_refs.of(id, doc, 'i')) do",
      "  local flat, bytes = {}, 0\n  inputs_of[id] = flat\n  for _, port in ipairs(port_refs.of(id, doc, 'i')) do",
      'unreadable values count as no values',
    ],
    [
      "MAX_INPUTS and pushed ~= taken and not doc['v' .. port.field] then",
      "MAX_INPUTS and redis.call('LLEN', redis_keys.list(port)) > 0 then",
      'a claim reads values of a job without values',
    ],
  ),
  ...of(33, 'lib/run/claim.lua', [
    "  cache.change(id, doc, fields.runs_this_minute, time.minute .. ':' .. n)\n",
    "  redis.call('SET', redis_keys.side(id, 'minute'), n)\n",
    'the runaway guard has a separate key',
  ]),
  ...of(
    33,
    'lib/run/leases.lua',
    [
      "(doc.history or outcome == 'failed' or outcome == 'lost') and leases.most_kept(doc) or 0",
      'leases.most_kept(doc)',
      'every job keeps its runs',
    ],
    ["(doc.history or outcome == 'failed' or outcome == 'lost') and", 'true and', 'successful runs are kept'],
    ["or outcome == 'failed' or outcome == 'lost')", "or outcome == 'failed')", 'lost runs are not kept'],
    ['if n >= most then lists.pop(kept, 1) else', 'if true then', 'a job keeps all its runs'],
    ['  if #error > MAX_KEPT_ERROR then\n', '  if false then\n', 'errors of any length are kept'],
  ),
  ...of(33, 'lib/run/retry.lua', [
    'again = not doc.terminating and has_tries(doc) }',
    'again = doc.terminating and has_tries(doc) }',
    'a lost run is reported as the last',
  ]),
  ...of(33, 'lib/family/erase.lua', [", history_kept = 'runs'", '', 'the runs of a job stay after the job is deleted']),
  ...of(
    33,
    'lib/runtime/lists.lua',
    [
      'list.own and tables.slice(list.own, list.pop + 1, list.had) or {}',
      '{}',
      'values waiting in the document are forgotten when more come',
    ],
    [
      'list.field and (list.own or list.pop == list.had)',
      'list.field',
      'a later value precedes the values of the list',
    ],
    ['    if size > values.BIG then return nil end\n', '', 'a document grows with waiting values'],
    [
      'list.own and tables.slice(list.own, list.pop + 1, list.had) or {}\n',
      'list.own and tables.slice(list.own, list.pop + 1, list.had) or {}\n  if list.own then return end\n',
      'taken values remain in the document',
    ],
    ['from + 1, from + n)', '1, n)', 'a page starts with values already seen'],
  ),
  ...of(33, 'lib/family/kin.lua', [
    '  if not doc.has_children then return list end\n',
    '',
    'missing children are read',
  ]),
  ...of(
    123,
    'scripts/enqueue.lua',
    ['else used = used or answered end', 'end', 'an existing job is created again together with new jobs'],
    ['calls[2] and { answers[i] } or answers', 'answers', 'the leading caller gets the jobs of all on a retry'],
    ['{ answers[i] }', '{ answers[1] }', 'a caller gets the job of another'],
  ),
]
