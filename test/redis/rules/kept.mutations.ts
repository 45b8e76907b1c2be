import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    130,
    'lib/port/kept.lua',
    ['index, 0, -MOST', 'index, 0, -MOST - 1', 'one channel too many has a last message'],
    ['minutes.counted(counts, 1)', 'minutes.counted(nil, 1)', 'only the last message is counted'],
    ['  cache.zset(index, channel, false)\n', '', 'a forgotten channel keeps its place'],
    ['  cache.replace_text(kept.key(channel), false)\n', '', 'a forgotten channel stays in Redis'],
    ['~= time.minute then', '== false then', 'kept messages cannot be found'],
    [
      "tonumber(((counts or ''):match('^%d+'))) ~= time.minute",
      'not text',
      'a channel is removed although it has a new message',
    ],
  ),
  ...of(130, 'lib/run/ops/of_callers.lua', [
    'if size > 0 then kept.keep',
    'if true then kept.keep',
    'kept messages are never removed',
  ]),
  ...of(130, 'lib/runtime/minutes.lua', ['math.min(MINUTES, #counts)', '#counts', 'more than ten minutes are counted']),
]
