-- The index is 0 - n, because some Lua engines create a list of length n for an index n. With a time in
-- minutes as n, this takes seconds and 1.8 GB.
local numerals = {}

function numbers.int(n)
  local text = numerals[0 - n]
  if not text then
    -- Lua's own formatting takes a fifth of the time of string.format, but is wrong for fractions and longer numbers.
    text = n % 1 == 0 and n < 10000000000000 and n > -10000000000000 and n .. '' or string.format('%.0f', n)
    numerals[0 - n] = text
  end
  return text
end

numbers.never = math.huge
