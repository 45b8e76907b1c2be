local numeric = number_fields
local json = { aliases = 1, awaited_children = 1, redacts = 1, repeats = 1 }

local function is_json(text) return (pcall(cjson.decode, '[' .. text .. ']')) end

local function fault_of(field, value)
  if type(value) ~= 'string' then return 'is not text' end
  if numeric[field] and not tonumber(value) then return 'is not a number' end
  if field == fields.sequence and not value:match('^%x%x%x%x%x%x%x%x%x%x%x%x%x$') then return 'is not a sequence' end
  if field == fields.place and not states.indexes[value] and value ~= PLACE.limited then return 'is not a place' end
  if value == '^' then return nil end
  if field:find('^[io]:') and not value:find('^%d+,%d+') then return 'is not a count' end
  if (json[field] or field:find('^v[io]:') or field:find('^c[io]:')) and not is_json(value) then
    return 'is not JSON'
  end
  if field == fields.waits_for and value ~= '*' and not is_json(value) then return 'is not JSON' end
end

function shape.faults_of(doc)
  local found = {}
  for field, value in pairs(doc) do found[field] = field ~= 'gone' and fault_of(field, value) or nil end
  return found
end
