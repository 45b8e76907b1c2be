-- Results that are kept for whoever asks.
-- Made when first called.

local results = {}

local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local time = require 'runtime/time'
local set_expiring, text_at = cache.set_expiring, cache.text_at
local int = numbers.int
local now, now_text = time.now, time.now_text

local how_ended = { c = 'success', f = 'failure', T = 'failure' }

function results.keep(id, doc, place, value)
  if not doc.keep_result then return end
  local times = now_text .. ' ' .. int(now + tonumber(doc.keep_result)) .. (doc.said_ended_at and ' ' .. doc.said_ended_at or '')
  set_expiring(ns .. 'result:' .. id, how_ended[place] .. '\n' .. times .. '\n' .. value, tonumber(doc.keep_result))
end

function results.of(id)
  local text = text_at(ns .. 'result:' .. id)
  return text and tonumber((text:match('^%a+\n%d+ (%d+)'))) > now and text
end

return results
