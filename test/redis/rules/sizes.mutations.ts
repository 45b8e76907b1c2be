import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    84,
    'lib/job/values.lua',
    [
      '  if values.has_room(id, doc, more or 0) then return end\n',
      '  do return end\n',
      'a job holds any number of bytes',
    ],
    ['  if rough then set_size(id, doc, count(id, doc)) end\n', '', 'deleted values are counted forever'],
    ['    values.add(id, doc, #value)\n', '', 'values next to the document are not counted'],
    ['if known then values.add(id, doc, -#known) else values.lose(id, doc) end', '', 'a replaced value still counts'],
    ['(values.added[id] or 0) + #cache.document', '#cache.document', 'effects of one call are not counted together'],
    [
      '  if counted[key] <= MOST_FIELDS then return end\n',
      '  do return end\n',
      'a job has any number of fields and ports',
    ],
    ['  if doc[field] then return end\n', '', 'a field that is set again counts twice'],
    [' + #cache.document(id)', '', 'small values are not counted'],
  ),
  ...of(
    84,
    'lib/runtime/lists.lua',
    [
      '      if list.push[1] then values.add(list.id, cache.docs[list.id], tables.bytes(list.push)) end\n',
      '',
      'waiting values are not counted',
    ],
    ['      if list.pop > 0 then values.lose(list.id, cache.docs[list.id]) end\n', '', 'taken values still count'],
  ),
  ...of(84, 'lib/run/ops/on_records.lua', ['  values.add(me.id, doc, #name + #value)\n', '', 'steps are not counted']),
  ...of(84, 'lib/port/write.lua', [
    ' or not values.has_room(id, doc, tables.bytes(items)) then',
    ' then',
    'a message to a full job fails its publisher',
  ]),
  ...of(84, 'lib/job/ending.lua', ['  values.lose(id, doc)\n', '', 'removed steps still count']),
  ...of(84, 'lib/job/aliases.lua', [
    '  if #list >= MOST_ALIASES then',
    '  if false then',
    'a job has any number of aliases',
  ]),
]
