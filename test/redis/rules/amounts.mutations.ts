import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    73,
    'lib/port/write.lua',
    [
      '  if waiting + more <= MAX_WAITING then return end\n',
      '  if true then return end\n',
      'any number of values waits at a port',
    ],
    ['pushed - taken + #items > MAX_WAITING or not', 'not', 'a message to a full port fails its publisher'],
  ),
  ...of(73, 'lib/port/write.lua', [
    'if write.said[what] > most then',
    'if false then',
    'one write publishes any number of messages',
  ]),
  ...of(
    73,
    'lib/port/write.lua',
    ['    if #channels > 0 then write.charge(channels, #items) end\n', '', 'messages of ports are not counted'],
    ['  if bytes * n > MAX_COPIED then', '  if false then', 'a value is copied to any number of targets'],
    ['if bytes * n > MAX_COPIED and i > 1 then return i - 1 end', '', 'values of any total size are copied at once'],
    ['math.max(1, math.floor(MAX_MOVE / n))', 'MAX_MOVE', 'any number of values is copied at once'],
    [
      "  if default then check_copies(port, 'a default', #default, n) end\n",
      '',
      'a default is copied to any number of targets',
    ],
    ['n * #items > write.budget or', '', 'one script puts many messages into many ports'],
    ['n * tables.bytes(items) > write.bytes_left or', '', 'one script puts large messages into many ports'],
  ),
  ...of(73, 'lib/port/relay.lua', [
    'math.min(most, math.floor(write.bytes_left / #oldest[1]))',
    'most',
    'a relay puts large messages into many ports at once',
  ]),
  ...of(73, 'lib/port/write.lua', [
    '  if #cache.writes.messages > MAX_LIVE then return end\n',
    '',
    'any number of messages is published outside',
  ]),
  ...of(73, 'queries/list.lua', [
    'if bytes > MAX_PAGE and #jobs > 0 then return false end',
    '',
    'a page of large jobs is too large to read',
  ]),
  ...of(73, 'queries/list.lua', [
    'if read_bytes > MAX_READ then\n stopped = id',
    'if false then\n stopped = id',
    'a page reads all jobs, of any size',
  ]),
  ...of(73, 'lib/run/finish.lua', [
    'kin.memo.roots, write.said.messages, write.said.names = nil, 0, 0',
    'kin.memo.roots = nil',
    'messages of other runs in the batch count against a run',
  ]),
]
