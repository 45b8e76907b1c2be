import { of } from '../mutation.ts'

export const mutations = [
  ...of(29, 'lib/runtime/cache.lua', [
    'if cache.writes.strings[key] ~= nil then return cache.writes.strings[key] end',
    '',
    'a newly counted listener is unknown',
  ]),
  ...of(
    29,
    'lib/port/write.lua',
    ['if n > 0 and (n > write.MAX_DIRECT or', 'if n > 0 and (', 'one script reaches any number of listeners'],
    ['and has_left(relayed_by))', 'and false)', 'a message to few listeners overtakes an earlier message'],
    ["'(' .. behind or", "'[' .. behind or", 'the last port of a page gets the message twice'],
  ),
  ...of(
    29,
    'lib/port/relay.lua',
    [
      'cache.change(id, doc, fields.relay_cursor, members[page])',
      'cache.change(id, doc, fields.relay_cursor, nil)',
      'a relay does not know how far it has got',
    ],
    [
      '      cache.change(id, doc, fields.relay_cursor, nil)\n',
      '',
      'the next message begins where the last message ended',
    ],
  ),
  ...of(
    29,
    'lib/port/write.lua',
    [
      '    audience.member_change(channel, member, false)\n    return 0\n',
      "    journal.refuse('NOT_FOUND', member)\n",
      'a departed listener stops the message for the rest',
    ],
    ['if score and not old[member] then', 'if false then', 'a listener created in the same run receives no message'],
  ),
  ...of(
    29,
    'lib/port/audience.lua',
    ['if pending and pending[member] == score then return end', '', 'a departed listener is subtracted twice'],
    ['#listed == tonumber(n) and listed or nil', 'listed', 'an unnamed listener receives no message'],
    ['listed and #listed <= audience.FEW and', 'listed and', 'a message to many reads all their names'],
  ),
  ...of(29, 'lib/port/write.lua', [
    'if #members == n then audience.list(channel, n, relay, members) end',
    '',
    'the remaining few of many listeners are never named',
  ]),
  ...of(
    29,
    'lib/run/ops/on_ports.lua',
    [
      "if relay.run(me.id, doc) then cache.change(me.id, doc, fields.input_during_run, '1') end",
      'relay.run(me.id, doc)',
      'a relay stops after a page',
    ],
    [
      "cache.change(me.id, doc, fields.input_during_run, '1') end\n  leases.uncount_run(me.id, doc)\n",
      "cache.change(me.id, doc, fields.input_during_run, '1') end\n",
      'a busy relay counts as a runaway',
    ],
  ),
  ...of(29, 'lib/port/write.lua', [
    'if doc.place ~= PLACE.failed and doc.place ~= PLACE.terminated then return end',
    'if true then return end',
    'a relay that was terminated leaves its channel silent',
  ]),
  ...of(29, 'lib/family/erase.lua', [
    'if doc.relay_channel then audience.set_relay(doc.relay_channel, nil) end',
    '',
    'a channel names a removed relay',
  ]),
  ...of(29, 'lib/job/expiry.lua', ['and not doc.relay_channel and', 'and', 'an unneeded relay stays']),
]
