-- Every group gets one turn before any group gets its next turn. Jobs without a group count as one group. Groups take
-- turns only with groups in the same tier. A tier is a priority after ageing, rounded down.
--
-- The limit of a group stores the group's last turn. Jobs without a group use the limit that they wait for.

local MAX_TIERS = 32
local fronts = {} -- key and tier → first turn

local function front_of(key, tier)
  local name = tier .. ',' .. key
  if fronts[name] == nil then
    local first = redis.call('ZRANGEBYSCORE', redis_keys.limit(key, 'waiting'), tier, tier, 'LIMIT', 0, 1)[1]
    journal.put(fronts, name, first and first:sub(1, 13) or false)
  end
  return fronts[name]
end

local function account(group, key, tier)
  local owner, field = group ~= '' and 'group:' .. group or key, 'turn:' .. tier .. ',' .. key
  local last, n = ((limits.of(owner) or {})[field] or ''):match('^(%x+),(%d+)$')
  return owner, field, last, tonumber(n or 0)
end

local function make_room(owner)
  local idle, n = {}, 0
  for field, value in pairs(limits.of(owner)) do
    if field:sub(1, 5) == 'turn:' then
      n = n + 1
      if value:find(',0', 1, true) == 14 then idle[#idle + 1] = field end
    end
  end
  if n < MAX_TIERS then return true end
  for _, field in ipairs(idle) do limits.save(owner, field, nil) end
  return #idle > 0
end

local function note_turn(key, turn, tier, group)
  local owner, field, last, n = account(group, key, tier)
  local first = fronts[tier .. ',' .. key]
  if first == false or (first and turn < first) then journal.put(fronts, tier .. ',' .. key, turn) end
  if last or make_room(owner) then
    limits.save(owner, field, (last and last > turn and last or turn) .. ',' .. n + 1)
  end
end

function turns.turn_at(doc, key)
  for line in (doc.turns or ''):gmatch('[^\n]+') do
    local turn, tier, size, names = line:match('^(%x+),(%-?%d+),(%d+),(.*)$')
    if names:sub(size + 1) == key then return turn, tier, names:sub(1, tonumber(size)) end
  end
end

local function keep(id, doc, key, turn, tier, group)
  local lines = { turn .. ',' .. tier .. ',' .. #group .. ',' .. group .. key }
  for _, line in ipairs(tables.lines(doc.turns)) do
    local size, names = line:match('^%x+,%-?%d+,(%d+),(.*)$')
    if names:sub(size + 1) ~= key then lines[#lines + 1] = line end
  end
  cache.change(id, doc, fields.turns, table.concat(lines, '\n'))
end

function turns.take(id, doc, key)
  if key == 'group:' .. (doc.group or '') or not limits.of(key) then return end
  local tier = numbers.int(order.score(doc))
  local group = doc.group and limits.of('group:' .. doc.group) and doc.group or ''
  local turn, of, whose = turns.turn_at(doc, key)
  if of ~= tier or whose ~= group then
    local _, _, last, n = account(group, key, tier)
    local front = n == 0 and (front_of(key, tier) or doc.sequence)
    turn = (not front or (last and last >= front)) and time.digits(time.micros_of(last) + 1) or front
    keep(id, doc, key, turn, tier, group)
  end
  note_turn(key, turn, tier, group)
end

function turns.change_tier(id, doc)
  local turn, was, group = turns.turn_at(doc, doc.waiting_limit)
  local tier = numbers.int(order.score(doc))
  if not turn or was == tier then return end
  turns.leave(doc, true)
  keep(id, doc, doc.waiting_limit, turn, tier, group)
  note_turn(doc.waiting_limit, turn, tier, group)
end

function turns.leave(doc, is_let_through)
  local turn, tier, group = turns.turn_at(doc, doc.waiting_limit)
  if not turn then return end
  local owner, field, last, n = account(group, doc.waiting_limit, tier)
  if not last then return end
  if n > 1 then
    limits.save(owner, field, last .. ',' .. n - 1)
  else
    limits.save(owner, field, is_let_through and turn .. ',0' or nil)
  end
end
