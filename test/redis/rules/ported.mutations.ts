import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    104,
    'lib/runtime/pieces.lua',
    ['piece.args, piece.own }', 'piece.args }', 'values waiting at ports of a piece are lost on lease'],
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
      "  local keep = expiry.of('p' .. run.piece, doc, 'c')\n",
      '  local keep = time.now + (tonumber(doc.retain) or 86400000)\n',
      'a piece that input can wake is removed',
    ],
  ),
  ...of(
    106,
    'lib/run/packed.lua',
    [
      '  if found == 0 or common:find(\'"i:[%w_]+":"[1-9]%d*,0"\') then return nil, nil end\n',
      '',
      'a run of a piece writes to a missing port',
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
