import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    110,
    'scripts/settings.lua',
    [
      "  if text ~= '' then cache.change_queue(queue_name, field, tonumber(text)",
      "  text = text ~= '' and text or '0'\n  do cache.change_queue(queue_name, field, tonumber(text)",
      'an omitted setting is reset',
    ],
    [' > 0 and tonumber(text) or nil) end', ') end', 'a reset setting is 0'],
    [
      'was_lanes, was_batch, was_ageing = queue_record.most_lanes or 0',
      'was_lanes, was_batch, was_ageing = tonumber(most_lanes) or 0',
      'the previous number of lanes is not returned',
    ],
    ["queue_record.paused and '1' or ''", "paused == '1' and '1' or ''", 'the previous pause is not returned'],
    ["queue_record.mode or 'push'", "mode ~= '' and mode or 'push'", 'the previous mode is not returned'],
  ),
  ...of(
    112,
    'scripts/register.lua',
    ['current[class] ~= replaced then', 'false then', 'a definition overwrites another that was never read'],
    ["replaced ~= '' and", 'false and', 'two concurrent changes of a definition overwrite each other'],
    ["replaced ~= '' and current", 'current', 'an existing class is not registered'],
    ["definition = current[class] or ''", "definition = ''", 'the resulting class is not returned'],
    ['if function_of then', 'if false then', 'a registration takes over the jobs of a function'],
    ['if function_of then', 'if current[class] then', 'a registration cannot be replaced by another'],
  ),
]
