import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    1,
    'scripts/commit.lua',
    [
      '    lanes.set(queue_name, bell, nil)\n    cache.set_text',
      '    cache.set_text',
      'a bell keeps its place next to its lane',
    ],
    ['if last and last == seq then', 'if false then', 'a repeated request takes effect again'],
    ['if last and (last > seq or', 'if last and (', 'an old request is served'],
    [
      'if not served.lanes[lane] and not lanes.has_room(queue_name) then',
      'if false then',
      'a queue has more lanes than its maximum',
    ],
    [
      "if not laned or word == 'empty' or word == 'full' then cache.set_expiring(lanes.key(lane), record, lanes.MINUTE) else",
      "if word == 'empty' then cache.set_expiring(lanes.key(lane), record, 1) else",
      'the answers of a lane that has left are forgotten',
    ],
  ),
  ...of(1, 'lib/run/claim.lua', [
    'if (doc and doc.token == token) or',
    'if (doc and doc.token) or',
    'a repeated request gets runs that other lanes hold now',
  ]),
  ...of(
    2,
    'lib/queue/bells.lua',
    ['    lanes.set(q, bell, time.now + lanes.BELL)\n', '', 'a bell that has not arrived does not count'],
    ['or math.min(most, math.ceil(', 'or math.min(1000, math.ceil(', 'more bells ring than the maximum of lanes'],
    ['math.ceil(ready / batch)) - there', 'math.min(ready, 1)) - there', 'one bell rings for any number of ready jobs'],
  ),
  ...of(
    2,
    'lib/queue/lanes.lua',
    ['lanes.BELL = 20000', 'lanes.BELL = 45000', 'a lost bell costs a lane’s time'],
    ['    if till <= time.now then\n', '    if false then\n', 'lanes and bells never expire'],
  ),
  ...of(2, 'scripts/extend.lua', [
    'lanes.set(queue_name, lane, time.now + lease)',
    'lanes.set(queue_name, lane, cache.queue(queue_name).lanes[lane])',
    'a lane that extends its leases expires',
  ]),
  ...of(
    2,
    'scripts/commit.lua',
    [
      '  lanes.set(queue_name, lane, time.now + (lease > 0 and lease or lanes.LANE))\n',
      '  lanes.set(queue_name, lane, cache.queue(queue_name).lanes[lane] or time.now + lease)\n',
      'a continuing lane expires',
    ],
    [
      "    lanes.to_ring[queue_name] = tally.count(queue_name, 'ready') - got.n\n",
      '    lanes.to_ring[queue_name] = nil\n',
      'a lane with more work than it can take calls no further lane',
    ],
  ),
  ...of(2, 'lib/run/ops/of_callers.lua', [
    'if cache.queue(name).lanes[bell] then lanes.set(name, bell, nil) end',
    '',
    'a bell that was never sent keeps its place',
  ]),
  ...of(
    3,
    'scripts/commit.lua',
    ['(#ids == 0 and not more)', '#ids == 0', 'a lane leaves although it has not seen all jobs'],
    [
      'lanes.next_room(queue_name) <= time.now + lanes.LANE and 1 or 0',
      '0',
      'a lane that leaves forgets jobs waiting for a rate',
    ],
    [
      'lanes.next_room(queue_name) <= time.now + lanes.LANE and',
      'lanes.next_room(queue_name) < numbers.never and',
      'a bell rings for a start that is far away',
    ],
    [
      "math.max(leave == 'next' and 1 or 0",
      "math.min(0, leave == 'next' and 1 or 0",
      'no lane follows an expired lane',
    ],
  ),
  ...of(3, 'lib/run/claim.lua', [
    'local MAX_SCAN = 1000',
    'local MAX_SCAN = 10000',
    'a lane scans any number of entries',
  ]),
  ...of(3, 'lib/job/queueing.lua', [
    '  places.move(id, doc, place, nil,',
    '  places.move(id, doc, nil, nil,',
    'jobs of pull workers stay in the ready list',
  ]),
  ...of(3, 'lib/queue/sides.lua', [
    '(doc.tag or queue_record.mode ==',
    '(queue_record.mode ==',
    'a job with a tag waits for lanes, which ask for no tag',
  ]),
  ...of(3, 'lib/job/create.lua', [
    '  if doc.tag and not sides.of(spec) then\n',
    '  if false then\n',
    'a tag is accepted for a class that sidejob calls',
  ]),
  ...of(3, 'lib/queue/resort.lua', [
    "{ r = 'p:0', p = 'w:0' }",
    "{ p = 'w:0' }",
    'jobs that wait for pull workers are forgotten when a push worker takes over',
  ]),
  ...of(4, 'lib/queue/bells.lua', ['  work.conclude()\n', '', 'the last woken queue gets no bell']),
  ...of(4, 'scripts/commit.lua', [
    'bells.ring_all()\n',
    'lanes.to_ring = { [queue_name] = lanes.to_ring[queue_name] }\nbells.ring_all()\n',
    'bells ring only for the queue of the call',
  ]),
]
