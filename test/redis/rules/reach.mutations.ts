import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    70,
    'lib/run/ops/reach.lua',
    ["me.token and me.reach ~= 'all' and trees.root", 'false and trees.root', 'a run changes any job'],
    ["me.token and me.reach ~= 'all' and trees.root", 'me.token and trees.root', 'reach: all has no effect'],
  ),
  ...of(70, 'lib/run/ops/on_jobs.lua', [
    "if force and me.token and me.reach ~= 'all' then",
    'if false then',
    'every run may delete with force',
  ]),
  ...of(70, 'lib/run/ops/on_families.lua', [
    '  local orphan = aliases.need(job)\n  reach.check(me, orphan)\n',
    '  local orphan = aliases.need(job)\n',
    'a run adopts any job',
  ]),
  ...of(70, 'lib/run/ops/reach.lua', [
    'trees.root(id) ~= trees.root(me.id)',
    'trees.root(id) ~= me.id',
    'a run cannot reach up',
  ]),
  ...of(70, 'lib/family/kin.lua', [
    '  if not parent then return end\n  kin.memo.roots = nil\n',
    '  if not parent then return end\n',
    'a detached child stays in the family',
  ]),
  ...of(
    71,
    'lib/family/births.lua',
    ['if born > MAX_BORN then', 'if false then', 'a job leads to any number of further jobs'],
    ['if level + 1 > MAX_LEVELS then', 'if false then', 'families grow to any depth'],
    ["(parent_doc.root_and_level or ''):match", "(''):match", 'each job counts its own children alone'],
    ['  cache.change(root, root_doc, fields.descendants, born)\n', '', 'no descendant is counted'],
  ),
  ...of(71, 'lib/family/erase.lua', [
    '  if doc.root_and_level then births.uncount(doc) end\n',
    '',
    'a removed descendant is counted forever',
  ]),
]
