import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    45,
    'lib/runtime/tally.lua',
    ['if front == gone[i]:sub(1, 13) then front = nil break end', '', 'a leased job stays in front'],
    ['  if not front and n > #kept / 2 then front = ', '  if false then front = ', 'the next job is not checked'],
    ['if not front or since < front then front = since end', 'front = since', 'the last job is in front'],
    ['if not is_gone[members[i]] then return', 'if true then return', 'a job about to be removed comes next'],
  ),
  ...of(
    45,
    'lib/runtime/tally.lua',
    ['    added = 0\n', '', 'existing jobs are counted twice in the first count'],
    [
      'tally.add(queue_record, place, added - #gone)',
      'tally.add(queue_record, place, added)',
      'a leaving job still counts',
    ],
  ),
  ...of(
    45,
    'lib/runtime/store.lua',
    ['if of and (left < #one[3] or tally.add(', 'if of and (false or tally.add(', 'an absent job is subtracted'],
    ['tally.add(cache.queues[of[1]], of[2], 0) < 0) then', 'false) then', 'counts become negative'],
  ),
  ...of(45, 'queries/overview.lua', ['if was_wrong then queues.save(q) end', '', 'a wrong count stays wrong']),
  ...of(45, 'lib/look/queues.lua', [
    '    if cache.raw[redis_keys.queue(name)] then queues.save(name) end\n',
    '',
    'each read counts all jobs again',
  ]),
  ...of(45, 'lib/run/claim.lua', [
    "if from == 0 and want.tier == '' then tally.heads[got.key] = members end",
    'tally.heads[got.key] = members',
    'the next job is searched after the jobs that stay',
  ]),
]
