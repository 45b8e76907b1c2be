-- Changes that can be taken back, and refusals: one run of a batch is undone without the others.

local journal = {}

-- Every change to what the script knows goes through `put`, so that one refused run can be undone without the others.
-- Lists that are used again, not entries: a table for each of some 30 changes to a run was a fifth of its time.
local noted -- how many changes could be taken back; nil where none are

-- How much this script has done so far, and what it could not do: { job, what }.
journal.puts = 0
journal.faults = {}
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

local function rollback()
  for i = noted, 1, -1 do was_in[i][was_key[i]] = was_value[i] end
end

-- How many of the functions below are at work: a refusal that none of them catches would end Redis 7.0 itself, which takes
-- what is thrown for a text.
local catching = 0

local function caught(f, ...)
  catching = catching + 1
  local ok, answer = pcall(f, ...)
  catching = catching - 1
  return ok, answer
end

-- Stops the run or the call with a code of core/errors.ts; nothing of it has been written then.
function journal.refuse(code, message, field, wait)
  if catching == 0 then error(code .. ' ' .. message, 0) end
  error({ code = code, message = message, field = field, wait = wait }, 0)
end

-- Runs `f`; a refusal comes back as code and message, any other error is a fault and stays one.
function journal.try(f, ...)
  local ok, answer = caught(f, ...)
  if not ok and (type(answer) ~= 'table' or not answer.code) then error(answer, 0) end
  return ok, answer
end

-- The same, where any fault is the caller's own and refused like the rest: what it was is for those who run this.
function journal.isolate(who, f, ...)
  noted = 0
  local ok, answer = caught(f, ...)
  if not ok then rollback() end
  noted = nil
  if ok or (type(answer) == 'table' and answer.code) then return ok, answer end
  journal.push(journal.faults, row_of.fault { job = who, what = type(answer) == 'table' and answer.err or tostring(answer) })
  return false, { code = 'INTERNAL', message = 'this cannot be carried out: the fault is on our side' }
end

-- The same, with everything undone that was refused: for those who go on with something else.
function journal.attempt(f, ...)
  noted = 0
  local ok, answer = journal.try(f, ...)
  if not ok then rollback() end
  noted = nil
  return ok, answer
end

function journal.within(map, key)
  if not map[key] then journal.put(map, key, {}) end
  return map[key]
end

return journal
