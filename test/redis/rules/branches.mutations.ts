import { of } from '../mutation.ts'

export const mutations = [
  ...of(72, 'lib/job/retention.lua', [
    '      if journal.puts < MAX_SWEPT then alone',
    '      if true then alone',
    'large families are removed in one sweep',
  ]),
  ...of(72, 'lib/job/expiry.lua', ['and not doc.family_top then', 'then', 'a job that walked a family stays forever']),
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
    [
      "  cache.change(id, doc, fields.delete_requested, 'f')\n",
      '',
      'a large family is not removed after its retention',
    ],
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
    ['if child_doc.has_children then stand(id, doc, child, child_doc) end', '', 'grandchildren are not terminated'],
    ["if next_page ~= '0' then add_page(", 'if false then add_page(', 'children of the second page are not terminated'],
    [
      "elseif more then cache.change(me.id, doc, fields.input_during_run, '1')",
      "elseif false then cache.change(me.id, doc, fields.input_during_run, '1')",
      'a family is terminated only in part',
    ],
    [
      'if waits then me.at = time.now + 1000',
      'if false then me.at = time.now + 1000',
      'a deletion does not wait for runs',
    ],
    ["(not deletes or top_doc.delete_requested == 'f')", 'true', 'a restored job is removed anyway'],
    ['  leases.uncount_run(me.id, doc)\n', '', 'a long walk counts as a runaway'],
    [
      '  if not end_and_erase(doc.family_top, top_doc, force) then return done, true, true end',
      '  if true then return done, false, false end',
      'the top of a family stays',
    ],
  ),
]
