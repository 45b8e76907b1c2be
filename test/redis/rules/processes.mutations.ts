import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    80,
    'lib/queue/processes.lua',
    ['  if is_new or time.now - known.seen_at >= BEAT then\n', '  if is_new then\n', 'contact times are not stored'],
    ['if is_new or time.now - known.seen_at >= BEAT', 'if true', 'a contact time is stored with each claim'],
    ['not known or time.now - known.seen_at > FORGOTTEN', 'not known', 'an old signal holds for a new process'],
    ['if not text and not has_place() then', 'if false then', 'any number of processes is known'],
    ['      cache.hset(processes.key, name, false)\n', '', 'silent processes are not replaced'],
    ['if is_new then known.queues[#known.queues + 1] = q end', '', 'the queues of a process are unknown'],
  ),
  ...of(80, 'lib/run/claim.lua', [
    '  cache.change(id, doc, fields.process, process)\n',
    '',
    'the owner of a run is unknown',
  ]),
  ...of(
    80,
    'lib/run/leases.lua',
    [
      'fields.previous_ran_at, fields.process, fields.run_did }',
      'fields.previous_ran_at, fields.run_did }',
      'a run stays with its process forever',
    ],
    ['doc.process or (doc.lease_length', '(doc.lease_length', 'the history does not know which process'],
  ),
  ...of(80, 'scripts/extend.lua', [
    'if doc.process then signal =',
    'if false then signal =',
    'a long run makes its process look dead',
  ]),
  ...of(
    80,
    'lib/look/at_work.lua',
    ["and (with_bells or not lane:find('^bell'))", '', 'a bell looks like a lane'],
    ["tables.slice(ids, 1, most), 'more'", "tables.slice(ids, 1, most), ''", 'a cut list looks whole'],
    [
      "redis.call('ZUNION', numbers.int(to - from + 1), unpack(indexes, from, to))",
      "redis.call('ZRANGE', indexes[to], 0, -1)",
      'only one queue with few runs is shown',
    ],
  ),
  ...of(
    81,
    'scripts/commit.lua',
    ["max > 0 and signal == '' and", 'max > 0 and', 'a quiet process gets jobs'],
    ["#ids == 0 and signal == '' and", '#ids == 0 and', 'a quiet process is called in vain'],
    ['faults = journal.faults, signal = signal }', 'faults = journal.faults }', 'no process receives the signal'],
  ),
  ...of(
    81,
    'scripts/signal.lua',
    ['known.signal = signal', 'known.signal = known.signal', 'a signal is lost'],
    ['if not text then return reply.none {} end', "if not text then text = '0,0,' end", 'an unnamed process is listed'],
  ),
]
