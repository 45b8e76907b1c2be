function tables.has(list, item)
  for _, v in ipairs(list) do
    if v == item then return true end
  end
  return false
end

function tables.set_of(list)
  local set = {}
  for _, item in ipairs(list) do set[item] = true end
  return set
end

function tables.without(list, item)
  local rest = {}
  for _, v in ipairs(list) do
    if v ~= item then rest[#rest + 1] = v end
  end
  return rest
end

function tables.append(list, more)
  for _, item in ipairs(more) do list[#list + 1] = item end
end

function tables.slice(list, from, to)
  local piece = {}
  for i = from, math.min(to, #list) do piece[#piece + 1] = list[i] end
  return piece
end

-- Sorts like Redis: by score, then by member.
local function is_before(a, b) return a[2] < b[2] or (a[2] == b[2] and a[1] < b[1]) end
function tables.sort_by_score(rows) table.sort(rows, is_before) end

function tables.lines(text)
  local lines = {}
  for line in (text or ''):gmatch('[^\n]+') do lines[#lines + 1] = line end
  return lines
end

function tables.bytes(items)
  local bytes = 0
  for _, item in ipairs(items) do bytes = bytes + #item end
  return bytes
end
