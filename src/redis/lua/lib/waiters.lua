-- Claims of pull workers that wait: who stands in line for what, and who is called.

local STAR, ANY, OPEN, CLOSE, DASH = 42, 63, 91, 93, 45

-- Whether a byte is in the set that opens at `g` ([abc], [a-z], [^a]), and where the glob goes on; nil when it never closes.
local function in_set(byte, glob, g)
  local negated = glob:sub(g + 1, g + 1) == '^'
  local first = g + (negated and 2 or 1)
  local i, found = first, false
  while i <= #glob do
    local from, to = glob:byte(i), glob:byte(i)
    if from == CLOSE and i > first then return found ~= negated, i + 1 end
    if glob:byte(i + 1) == DASH and (glob:byte(i + 2) or CLOSE) ~= CLOSE then
      to = glob:byte(i + 2)
      i = i + 2
    end
    if byte >= from and byte <= to then found = true end
    i = i + 1
  end
end

-- Whether the glob takes the character at `t`: where text and glob go on then.
local function step_over(text, t, glob, g)
  local wanted, byte = glob:byte(g), text:byte(t)
  if wanted == ANY then
    local _, stop = text:find('^[\128-\191]*', t + 1)
    return stop + 1, g + 1
  end
  if wanted == OPEN then
    local found, after = in_set(byte, glob, g)
    if found then return t + 1, after end
  elseif wanted == byte then
    return t + 1, g + 1
  end
end

-- How far this script may compare texts with globs: a step is a character compared.
local globs = { steps = 40000 }

-- Whether a text is like a glob: `*` any text, `?` any character, `[a-z]` one of a set. Goes back to the last star only,
-- so that no glob takes longer than its length times that of the text; Lua's own patterns can take for ever.
local function is_like(text, glob)
  local t, g, star, from = 1, 1, nil, 1
  while t <= #text do
    globs.steps = globs.steps - (glob:byte(g) == OPEN and #glob - g or 1)
    local after, rest = step_over(text, t, glob, g)
    if glob:byte(g) == STAR then
      star, from, g = g, t, g + 1
    elseif after then
      t, g = after, rest
    elseif star then
      from = from + 1
      t, g = from, star + 1
    else
      return false
    end
  end
  return glob:find('^%**$', g) ~= nil
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
