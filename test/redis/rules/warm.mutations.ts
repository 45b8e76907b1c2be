import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    83,
    'lib/queue/standby.lua',
    ['tonumber(till) <= time.now then return nil', 'false then return nil', 'a lane past its waiting time is called'],
    ['time.now - emptied >= period', 'false', 'lanes of a rarely used queue wait'],
    ['cache.queue(q).paused or time.now', 'time.now', 'a lane of a paused queue waits'],
    [' or warm_lane(q) then', ' then', 'all lanes of a queue wait'],
    ["cache.publish('call:' .. lane, 'ready')\n", '', 'no lane is called'],
    ['  standby.cool_down(q, lane)\n  lanes.set', '  lanes.set', 'a lane is called for each job'],
    ['lanes.set(q, lane, time.now + lanes.BELL)\n  return 1', 'return 1', 'a lost call is not found'],
    ['return 1', 'return 0', 'a bell rings although a lane was called'],
    [
      'lanes.set(q, lane, time.now + period + lanes.BELL)',
      'lanes.set(q, lane, nil)',
      'a waiting lane does not keep its place',
    ],
  ),
  ...of(
    83,
    'scripts/commit.lua',
    ['if served.warm then standby', 'if false then standby', 'a lane that waited leaves after one check'],
    ["leave == 'next' and 1 or 0", '0', 'no lane follows a leaving lane'],
  ),
]
