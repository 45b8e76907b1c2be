-- Whole numbers as text.

local numbers = {}

-- Whole numbers as text; the same few come again and again. They are kept by 0 - n: some Luas make a list as long as n for
-- an index n, which took seconds and 1.8 GB for a moment in minutes. No list begins below zero.
local numerals = {}

function numbers.int(n)
  local text = numerals[0 - n]
  if not text then
    -- A moment as Lua itself writes it, which costs a fifth of a format; what has a fraction, or more digits, not.
    text = n % 1 == 0 and n < 10000000000000 and n > -10000000000000 and n .. '' or string.format('%.0f', n)
    numerals[0 - n] = text
  end
  return text
end

numbers.never = math.huge

return numbers
