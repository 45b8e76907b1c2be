-- Limits as they are looked at: each as a row.

local limit_rows = {}

local limits = require 'limit/limits'
local numbers = require 'runtime/numbers'

-- A limit at which so many wait; `since`, `started` and `starts` where they are asked for: since when the first waits, how
-- many started within the period of its rate, and when the newest of them did. Nil where it has no settings.
function limit_rows.of(key, waiting, since, started, starts)
  local state = limits.at(key)
  if not state.settings or state.settings.gone then return end
  return row_of.limit { key = key, document = cjson.encode(state.settings), held = numbers.int(state.taken), waiting = numbers.int(waiting), since = since or '', started = numbers.int(started or 0), starts = starts or {} }
end

return limit_rows
