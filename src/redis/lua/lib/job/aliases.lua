local KEY = ns .. 'jobs:aliases'

function aliases.owner(alias) return cache.hget(KEY, alias) end
function aliases.set_owner(alias, id) cache.hset(KEY, alias, id) end

function aliases.resolve(ref)
  if ref:match('^[1-9]%d*$') then return ref end
  local id = aliases.owner(ref)
  if not id then journal.refuse('NOT_FOUND', 'job ' .. ref .. ' does not exist') end
  return id
end

function aliases.need(ref)
  local id = aliases.resolve(ref)
  cache.need(id)
  return id
end

local MOST_ALIASES = 100

function aliases.of(id, doc) return values.decoded(id, doc, fields.aliases) or {} end

function aliases.add(id, doc, names)
  cache.hfetch(KEY, names)
  local list
  for _, alias in ipairs(names) do
    local owner = aliases.owner(alias)
    if owner and owner ~= id then journal.refuse('TAKEN', 'alias ' .. alias .. ' belongs to job ' .. owner) end
    if not owner then
      list = list or aliases.of(id, doc)
      if #list >= MOST_ALIASES then
        journal.refuse('TOO_LARGE',
          'job ' .. id .. ': expected at most ' .. MOST_ALIASES .. ' aliases: remove one first')
      end
      list[#list + 1] = alias
      aliases.set_owner(alias, id)
    end
  end
  if list then cache.change(id, doc, fields.aliases, cjson.encode(list)) end
end

function aliases.remove(id, doc, alias)
  local list = aliases.of(id, doc)
  local left = tables.without(list, alias)
  if #left == #list then journal.refuse('NOT_FOUND', 'job ' .. id .. ' has no alias ' .. alias) end
  cache.change(id, doc, fields.aliases, #left > 0 and cjson.encode(left) or nil)
  aliases.set_owner(alias, false)
end
