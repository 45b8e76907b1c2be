import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    83,
    'lib/queue/standby.lua',
    [
      'tonumber(till) <= time.now then return nil',
      'false then return nil',
      'a lane is called whose time to wait is over',
    ],
    ['time.now - emptied >= period', 'false', 'lanes of a queue that is seldom used wait'],
    ['cache.queue(q).paused or time.now', 'time.now', 'a lane waits for a stopped queue'],
    [' or warm_lane(q) then', ' then', 'all lanes of a queue wait'],
    ["journal.push(cache.writes.messages, { ns .. 'call:' .. lane, 'ready' })\n", '', 'nobody calls'],
    ['  standby.cool_down(q, lane)\n  lanes.set', '  lanes.set', 'a lane is called for each job'],
    ['lanes.set(q, lane, time.now + lanes.BELL)\n  return 1', 'return 1', 'a lost call is not found'],
    ['return 1', 'return 0', 'the lane that was called is rung for besides'],
    [
      'lanes.set(q, lane, time.now + period + lanes.BELL)',
      'lanes.set(q, lane, nil)',
      'a lane that waits keeps no place',
    ],
  ),
  ...of(
    83,
    'scripts/commit.lua',
    [
      'if cache.queue(queue_name).warm then standby',
      'if false then standby',
      'a lane that waited leaves when it has looked',
    ],
    ["leave == 'next' and 1 or 0", '0', 'no lane follows a leaving lane'],
  ),
]
