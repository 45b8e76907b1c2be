local noted -- number of changes that can be undone, or nil

journal.puts = 0
journal.faults = {}
-- Three lists are faster than one table for each change.
local was_in = {}
local was_key = {}
local was_value = {}

function journal.put(t, k, v)
  journal.puts = journal.puts + 1
  local n = noted
  if n then
    n = n + 1
    noted = n
    was_in[n], was_key[n], was_value[n] = t, k, t[k]
  end
  t[k] = v
end

function journal.push(list, v) journal.put(list, #list + 1, v) end

-- An error that nothing catches must be a string: a table would crash Redis 7.0.
local catching = 0

local function caught(f, ...)
  catching = catching + 1
  local ok, answer = pcall(f, ...)
  catching = catching - 1
  return ok, answer
end

local function undone_on_failure(call, ...)
  noted = 0
  local ok, answer = call(...)
  for i = ok and 0 or noted, 1, -1 do was_in[i][was_key[i]] = was_value[i] end
  noted = nil
  return ok, answer
end

function journal.refuse(code, message, field, wait)
  if catching == 0 then error(code .. ' ' .. message, 0) end
  error({ code = code, message = message, field = field, wait = wait }, 0)
end

function journal.try(f, ...)
  local ok, answer = caught(f, ...)
  if not ok and (type(answer) ~= 'table' or not answer.code) then error(answer, 0) end
  return ok, answer
end

function journal.isolate(who, f, ...)
  local ok, answer = undone_on_failure(caught, f, ...)
  if ok or (type(answer) == 'table' and answer.code) then return ok, answer end
  journal.push(journal.faults,
    row_of.fault { job = who, what = type(answer) == 'table' and answer.err or tostring(answer) })
  return false, { code = 'INTERNAL', message = 'sidejob had an internal error' }
end

function journal.attempt(f, ...) return undone_on_failure(journal.try, f, ...) end

function journal.within(map, key)
  if not map[key] then journal.put(map, key, {}) end
  return map[key]
end
