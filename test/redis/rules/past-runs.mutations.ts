import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    117,
    'lib/run/leases.lua',
    ["(doc.history and summary(id, doc, more.did) or '')", "''", 'kept runs have no further facts'],
    [
      "(doc.history and summary(id, doc, more.did) or '')",
      'summary(id, doc, more.did)',
      'jobs without history have costs for it',
    ],
    [
      'cache.count(id, doc, fields.runs_noted)',
      "cache.change(id, doc, fields.runs_noted, '1')",
      'each run is the first',
    ],
    ['time.moment_of_sequence(doc.sequence)', 'doc.ran_at', 'a run is reported as ready when it began'],
    ["(doc.next_commit or '0')", "'0'", 'checkpoints are not counted'],
    ['or doc.run_did or', 'or', 'effects of a lost run up to its last checkpoint are not reported'],
    ['fields.process, fields.run_did }', 'fields.process }', 'a run is reported with the effects of the previous one'],
  ),
  ...of(
    117,
    'lib/run/did.lua',
    ['if tonumber(doc.history or 0) == 0 then return end', '', 'other jobs record their effects'],
    ['if all.bytes + #what > MOST then', 'if false then', 'all effects of a run are recorded, in any number'],
    ['all.more = all.more + n', '', 'omitted effects are not counted'],
    ['(all.of[what] or 0) + n', 'n', 'repeated effects are not added'],
    ['values.decoded(run.id, doc, fields.run_did) or', '', 'effects before a checkpoint are forgotten'],
  ),
  ...of(117, 'lib/run/finish.lua', [
    '  if run.did then cache.change(id, doc, fields.run_did, cjson.encode(run.did)) end\n',
    '',
    'a checkpoint forgets the effects',
  ]),
  ...of(117, 'lib/run/leases.lua', [
    '(tonumber(doc.failures) or 0) + 1 .. leases.of_version(more.version)',
    '(tonumber(doc.failures) or 0) + 1',
    'the version of the code is not recorded',
  ]),
  ...of(117, 'lib/run/packed.lua', [
    "',completed,1' .. leases.of_version(run.version) ..",
    "',completed,1' ..",
    'jobs that end with their piece record no version',
  ]),
  ...of(117, 'lib/run/ops/run_fields.lua', [
    'function set.version(run, version) run.version = version end',
    'function set.version() end',
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
  ...of(
    118,
    'lib/run/did.lua',
    ["kept['token'] == run.token and kept or", 'kept or', 'inputs taken by an earlier run are reported for this one'],
    ['doc.inputs_kept and doc.next_commit and', 'false and', 'a checkpoint is forgotten'],
    ['kept.bytes = kept.bytes + PER_VALUE * n\n', '', 'any number of small values is kept'],
    ['      kept.bytes = kept.bytes + #item\n', '', 'large values are kept'],
    ['if kept.bytes > MOST_INPUTS then kept.of = {} end', '', 'part of an oversized value is kept'],
  ),
  ...of(118, 'lib/run/finish.lua', ['  did.keep_inputs(run)\n', '', 'no inputs are kept']),
  ...of(
    118,
    'lib/run/ops/on_ports.lua',
    ["and from.dir == 'i' then me.keep(", 'then me.keep(', 'values of outputs are kept as inputs'],
    ['if me.keep and count > 0 and', 'if me.keep and', 'ports without read values are kept'],
  ),
  ...of(118, 'lib/family/erase.lua', ["inputs_kept = 'inputs', ", '', 'inputs outlast their job']),
  ...of(118, 'lib/runtime/cache.lua', [
    "{ 'strings', 'hashes', 'sets', 'lists' }",
    "{ 'hashes', 'sets', 'lists' }",
    'inputs of the last run outlast a job removed at once',
  ]),
  ...of(131, 'lib/run/ops/run_fields.lua', [
    '  values.set_value(run.id, cache.need(run.id), fields.last_values, recorded)\n',
    '',
    'the values of a run are not recorded',
  ]),
]
