globs.steps = 10000

function globs.first(class, list, known)
  if known[class] == nil then
    known[class] = false
    for _, glob in ipairs(list) do
      known[class] = known[class] or (globs.is_like(class, glob) and glob)
    end
  end
  return known[class]
end

function globs.match(class, list, known) return #list == 0 or globs.first(class, list, known) ~= false end

local read = {}
local ANY_CHARACTER = '[^\128-\191][\128-\191]*'

local function escaped(character) return (character:find('^[%w\128-\255]') and '' or '%') .. character end

local function set_of(glob, g)
  local negated = glob:sub(g + 1, g + 1) == '^'
  local first = g + (negated and 2 or 1)
  local i, set = first, negated and '[^' or '['
  while i <= #glob do
    local from, to = glob:byte(i), glob:byte(i)
    if glob:sub(i, i) == ']' and i > first then return set .. ']', i + 1 end
    if glob:sub(i + 1, i + 1) == '-' and (glob:sub(i + 2, i + 2) or ']') ~= ']' and i + 2 <= #glob then
      to = glob:byte(i + 2)
      i = i + 2
    end
    for byte = from, to do set = set .. escaped(string.char(byte)) end
    i = i + 1
  end
end

-- A part is the text between two stars. A match takes at most (length of the part) × (length of the name) steps.
local function parts(glob)
  local parts, part, g = {}, '', 1
  while g <= #glob do
    local character, after = glob:sub(g, g), g + 1
    if character == '*' then
      -- Adjacent stars count as one, because some Lua engines find an empty part only at the start.
      if part ~= '' or #parts == 0 then parts[#parts + 1] = part end
      part = ''
    elseif character == '?' then
      part = part .. ANY_CHARACTER
    elseif character == '[' then
      local set, behind = set_of(glob, g)
      if not set then return false end
      part, after = part .. set, behind
    else
      part = part .. escaped(character)
    end
    g = after
  end
  parts[#parts + 1] = part
  return parts
end

function globs.is_like(text, glob)
  if read[glob] == nil then read[glob] = parts(glob) end
  local parts, from = read[glob], 1
  if not parts then return false end
  globs.steps = globs.steps - 1 - #parts - math.ceil(#text * #glob / 20)
  for i, part in ipairs(parts) do
    local start, stop = text:find((i == 1 and '^' or '') .. part .. (i == #parts and '$' or ''), from)
    if not start then return false end
    from = stop + 1
  end
  return true
end
