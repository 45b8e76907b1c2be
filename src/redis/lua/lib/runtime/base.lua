-- What every script begins with: the clock, the arguments in order, and writes that can be taken back.

-- Whole numbers as text; the same few come again and again. They are kept by 0 - n: some Luas make a list as long as n for
-- an index n, which took seconds and 1.8 GB for a moment in minutes. No list begins below zero.
local numerals = {}
local function int(n)
  local text = numerals[0 - n]
  if not text then
    text = string.format('%.0f', n)
    numerals[0 - n] = text
  end
  return text
end
local never = math.huge

-- The arguments that follow the named ones, read one after the other.
local function take()
  at = at + 1
  return ARGV[at]
end
local function take_int() return tonumber(take()) end
local function take_list()
  local list = {}
  for i = 1, take_int() do list[i] = take() end
  return list
end

-- One clock for everybody: Redis's own, moved by `clock` milliseconds where a test says so.
local time = redis.call('TIME')
local micros = tonumber(time[1]) * 1000000 + tonumber(time[2]) + (tonumber(clock) or 0) * 1000
local now = math.floor(micros / 1000)
local now_text = int(now)

-- A sequence grows with time and is never given twice by one script. 13 hex digits of microseconds, so that text
-- order is number order. In two halves: %x takes 32 bits on some builds.
local ticks = 0
local function digits(m)
  local high = math.floor(m / 16777216)
  return string.format('%07x%06x', high, m - high * 16777216)
end
local function moment_of_sequence(n)
  return math.floor((tonumber(n:sub(1, 7), 16) * 16777216 + tonumber(n:sub(8), 16)) / 1000)
end
local function next_ticks(n)
  ticks = ticks + n
  return micros + ticks - n - 1
end
local function sequence() return digits(next_ticks(1) + 1) end

-- The place in the order of what became due at a moment, whenever somebody looked; its id orders it among its like.
local function sequence_of(moment, id) return digits(moment * 1000 + tonumber(id) % 1000) end

-- Every change to what the script knows goes through `put`, so that one refused run can be undone without the others.
-- Lists that are used again, not entries: a table for each of some 30 changes to a run was a fifth of its time.
local journal
local work = { puts = 0, faults = {} } -- how much this script has done so far, and what it could not: { job, what }
local was_in, was_key, was_value = {}, {}, {}
local function put(t, k, v)
  work.puts = work.puts + 1
  if journal then
    journal = journal + 1
    was_in[journal], was_key[journal], was_value[journal] = t, k, t[k]
  end
  t[k] = v
end
local function push(list, v) put(list, #list + 1, v) end
local function rollback()
  for i = journal, 1, -1 do was_in[i][was_key[i]] = was_value[i] end
end

-- Stops the run or the call with a code of core/errors.ts; nothing of it has been written then.
local function refuse(code, message, field) error({ code = code, message = message, field = field }, 0) end

-- Runs `f`; a refusal comes back as code and message, any other error is a fault and stays one.
local function try(f, ...)
  local ok, answer = pcall(f, ...)
  if not ok and (type(answer) ~= 'table' or not answer.code) then error(answer, 0) end
  return ok, answer
end

-- The same, where any fault is the caller's own and refused like the rest: what it was is for those who run this.
function work.isolate(who, f, ...)
  journal = 0
  local ok, answer = pcall(f, ...)
  if not ok then rollback() end
  journal = nil
  if ok or (type(answer) == 'table' and answer.code) then return ok, answer end
  push(work.faults, { who, type(answer) == 'table' and answer.err or tostring(answer) })
  return false, { code = 'INTERNAL', message = 'this cannot be carried out: the fault is on our side' }
end

-- The same, with everything undone that was refused: for those who go on with something else.
local function attempt(f, ...)
  journal = 0
  local ok, answer = try(f, ...)
  if not ok then rollback() end
  journal = nil
  return ok, answer
end
