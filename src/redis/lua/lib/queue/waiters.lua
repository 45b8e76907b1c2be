-- Claims of pull workers that wait: who stands in line for what, and who is called.

-- How far this script may compare texts with globs: a step is about twenty characters compared.
local globs = { steps = 10000, read = {} }

local ANY_CHARACTER = '[^\128-\191][\128-\191]*'

-- Bytes from one to another as they stand in a set of a pattern.
local function byte_range(from, to)
  local front, back = '', ''
  while from <= to and not string.char(from):find('^[%w\128-\255]') do
    front = front .. '%' .. string.char(from)
    from = from + 1
  end
  while from <= to and not string.char(to):find('^[%w\128-\255]') do
    back = '%' .. string.char(to) .. back
    to = to - 1
  end
  return front .. (from <= to and string.char(from) .. '-' .. string.char(to) or '') .. back
end

-- The set that opens at `g` ([abc], [a-z], [^a]) as one of a pattern, and where the glob goes on; nil when it never closes.
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
    set = set .. byte_range(from, to)
    i = i + 1
  end
end

-- What stands between the stars of a glob, as patterns of Lua without any choice in them, so that none takes longer than its
-- length times that of the text; false where it is like nothing.
function globs.parts(glob)
  local parts, part, g = {}, '', 1
  while g <= #glob do
    local character, after = glob:sub(g, g), g + 1
    if character == '*' then
      -- Several stars are one: some Lua finds an empty text at the front, wherever it is told to look from.
      if part ~= '' or #parts == 0 then parts[#parts + 1] = part end
      part = ''
    elseif character == '?' then
      part = part .. ANY_CHARACTER
    elseif character == '[' then
      local set, behind = set_of(glob, g)
      if not set then return false end
      part, after = part .. set, behind
    else
      local is_plain = character:find('^[%w\128-\255]') ~= nil
      part = part .. (is_plain and '' or '%') .. character
    end
    g = after
  end
  parts[#parts + 1] = part
  return parts
end

-- Whether a text is like a glob: `*` any text, `?` any character, `[a-z]` one of a set. Each part is looked for behind the
-- one before it, the last one at the end.
local function is_like(text, glob)
  if globs.read[glob] == nil then globs.read[glob] = globs.parts(glob) end
  local parts, from = globs.read[glob], 1
  if not parts then return false end
  globs.steps = globs.steps - 1 - #parts - math.ceil(#text * #glob / 20)
  for i, part in ipairs(parts) do
    local start, stop = text:find((i == 1 and '^' or '') .. part .. (i == #parts and '$' or ''), from)
    if not start then return false end
    from = stop + 1
  end
  return true
end

-- The first of the globs that a class is like, asked once for each class; `known` is kept by the caller.
function globs.first(class, list, known)
  if known[class] == nil then
    known[class] = false
    for _, glob in ipairs(list) do
      known[class] = known[class] or (is_like(class, glob) and glob)
    end
  end
  return known[class]
end

function globs.match(class, list, known) return #list == 0 or globs.first(class, list, known) ~= false end

local MAX_CALLS = 100

-- A claim that waits stands in `waiters` as its name and the patterns it asked for. Who has got something, or has no more
-- time, leaves: whoever is called stands for all who could come.
local function stand(q, waiter, patterns, till)
  zset(queue_key(q, 'waiters'), waiter .. '\n' .. table.concat(patterns, '\n'), till > now and till)
  if till > now then change_queue(q, queue_fields.pulls_until, math.max(queue(q).pulls_until or 0, till)) end
end

local function waiter_of(member)
  local words = {}
  for word in member:gmatch('[^\n]+') do words[#words + 1] = word end
  return table.remove(words, 1), words
end

-- Each job that became ready calls one claim that waits for its class; nobody is called in vain.
local function call_waiters(q, classes)
  local key = queue_key(q, 'waiters')
  local waiting = redis.call('ZRANGEBYSCORE', key, '(' .. int(now), '+inf', 'LIMIT', 0, MAX_CALLS)
  put(writes.trims, key, now)
  local claims = {}
  for i, member in ipairs(waiting) do
    local waiter, patterns = waiter_of(member)
    claims[i] = { member = member, waiter = waiter, patterns = patterns, known = {} }
  end
  local in_vain = {} -- classes that none of those left wants
  for _, class in ipairs(classes) do
    for i, claim in ipairs(in_vain[class] and {} or claims) do
      -- Who cannot be told apart any more is called too: that costs a claim, and loses nothing.
      if class == '' or globs.steps <= 0 or globs.match(class, claim.patterns, claim.known) then
        zset(key, claim.member, false)
        push(writes.messages, { ns .. 'call:' .. claim.waiter, 'ready' })
        table.remove(claims, i)
        break
      end
      in_vain[class] = i == #claims
    end
    if #claims == 0 then return end
  end
end

table.insert(before_flush, function()
  for q, classes in pairs(to_call) do
    if (queue(q).pulls_until or 0) > now then call_waiters(q, classes) end
  end
  to_call = {}
end)
