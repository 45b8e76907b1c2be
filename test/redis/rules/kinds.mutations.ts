import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    133,
    'lib/queue/kinds.lua',
    ['  note(doc, -1)\n', '', 'jobs that leave stay counted in their minute'],
    ['  note(doc, 1)\nend', 'end', 'kinds are not listed'],
    ['set_entry(id, doc, false)\n  note', 'set_entry(id, doc, 0)\n  note', 'jobs that are retried stay in the index'],
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
    ['newest - one[1] < RECENT and', 'true and', 'minutes are never joined'],
    ['if n > 0 and newest - tonumber(word) < PAST then', 'if n > 0 then', 'minutes are kept forever'],
    ['if one[2] < 0 and not counts[word] then', 'if false then', 'jobs of joined minutes stay counted'],
    ['  if not is_listed(doc.queue, (kinds.of(doc))) then note(doc, 1) end\n', '', 'a repair lists no kinds'],
    ['      kinds.leave(id, doc)\n', '', 'a job keeps its place without a kind'],
    ['    if not is_in then cache.zset(index_of(q), members[i], false) end\n', '', 'a repair keeps wrong entries'],
  ),
  ...of(
    133,
    'lib/job/places.lua',
    ['  if doc.place == PLACE.failed then kinds.leave(id, doc) end\n', '', 'no job leaves the index'],
    ['  if place == PLACE.failed then kinds.enter(id, doc) end\n', '', 'no job enters the index'],
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
    ["    wanted_of[#wanted_of + 1] = { name, '' }\n", '', 'lists leave out jobs without a kind'],
    ['tables.has(fitting_kinds, (kinds.of(doc)))', 'true', 'a list of a kind has other jobs'],
    ['while ids[1] and tonumber(ids[#ids]) < down_to do', 'while false do', 'a page skips jobs of another kind'],
  ),
]
