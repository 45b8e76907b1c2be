-- Limits as rows.

local limit_rows = {}

local limits = require 'limit/limits'
local numbers = require 'runtime/numbers'

-- A limit with that many waiting jobs; on request `since` when the first waits, `started` in the period, and the
-- newest `starts`. Nil without settings.
function limit_rows.of(key, waiting, since, started, starts)
  local state = limits.at(key)
  if not state.settings or state.settings.gone then return end
  return row_of.limit { key = key, document = cjson.encode(state.settings), held = numbers.int(state.taken),
    waiting = numbers.int(waiting), since = since or '', started = numbers.int(started or 0), starts = starts or {} }
end

return limit_rows
