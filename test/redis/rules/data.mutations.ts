import { of } from '../mutation.ts'

export const mutations = [
  ...of(
    41,
    'lib/runtime/cache.lua',
    ['number > cache.SCHEMA or', '', 'data of a newer schema are changed'],
    [' or number < OLDEST then', ' then', 'data of an older schema are changed'],
    ['  if is_unchecked then check_schema() end\n', '', 'the schema of the data is not checked'],
  ),
  ...of(41, 'lib/runtime/store.lua', [
    'if cache.raw[cache.schema_key] == false then',
    'if false then',
    'a new database has no schema number',
  ]),
  ...of(41, 'lib/run/ops/of_callers.lua', [
    "if known ~= '' and not cache.hget(ns .. 'keys', id) then",
    'if false then',
    'an API key that was removed comes back',
  ]),
  ...of(41, 'scripts/tick.lua', ["{ ns .. 'schema' }", '{}', 'the tick changes data of any schema']),
  ...of(
    41,
    'lib/job/ids.lua',
    ['  if id <= last then return end\n', '  if true then return end\n', 'ids are given again'],
    [
      "  ids.keep(id)\n  cache.set_text(ns .. 'epoch'",
      "  cache.set_text(ns .. 'epoch'",
      'the restore of Redis is reported, and ids are reused',
    ],
    ['times + 1', "'1'", 'all restores of Redis count as one'],
    ['.. last + 1 ..', '.. last ..', 'an existing job is reported as lost'],
  ),
]
