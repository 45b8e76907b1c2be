-- Tests move Redis' clock by `clock` milliseconds.
local clock_time = redis.call('TIME')
time.micros = clock_time[1] * 1000000 + clock_time[2] + (tonumber(clock) or 0) * 1000
time.now = math.floor(time.micros / 1000)
time.now_text = numbers.int(time.now)

-- A sequence is a time in microseconds, as 13 hexadecimal digits, so that text order is the order of time. A script
-- never uses a sequence twice. Each half is formatted separately, because %x takes only 32 bits in some builds of Lua.
local ticks = 0

function time.digits(m)
  local high = math.floor(m / 16777216)
  return string.format('%07x%06x', high, m - high * 16777216)
end

function time.micros_of(digits) return tonumber(digits:sub(1, 7), 16) * 16777216 + tonumber(digits:sub(8), 16) end

function time.moment_of_sequence(n) return math.floor(time.micros_of(n) / 1000) end

function time.next_ticks(n)
  ticks = ticks + n
  return time.micros + ticks - n - 1
end

function time.sequence() return time.digits(time.next_ticks(1) + 1) end

function time.sequence_of(moment, id) return time.digits(moment * 1000 + id % 1000) end
time.minute = math.floor(time.now / 60000)
