local how_ended = { c = 'success', f = 'failure', T = 'failure' }

local DAY = 86400000

local function kept_for(doc, place, value)
  if doc.keep_result then return tonumber(doc.keep_result) end
  return place == PLACE.completed and value ~= 'null' and math.min(DAY, tonumber(doc.retain) or DAY) or 0
end

function results.keep(id, doc, place, value)
  local ms = kept_for(doc, place, value)
  if ms <= 0 then return end
  local times = time.now_text .. ' ' .. numbers.int(time.now + ms)
    .. (doc.said_ended_at and ' ' .. doc.said_ended_at or '')
  local redacts = values.get_value(id, doc, fields.redacts)
  if redacts then times = times .. '\t' .. redacts end
  if doc.quota_bytes then quota.expire(#value, ms, doc.api_key) end
  cache.change(id, doc, fields.result_until, time.now + ms)
  cache.set_expiring(ns .. 'result:' .. id, how_ended[place] .. '\n' .. times .. '\n' .. value, ms)
end

function results.drop(id, doc)
  cache.del(ns .. 'result:' .. id)
  if doc then cache.change(id, doc, fields.result_until, nil) end
end

function results.of(id)
  local text = cache.text_at(ns .. 'result:' .. id)
  return text and (tonumber((text:match('^%a+\n%d+ (%d+)'))) or 0) > time.now and text
end
