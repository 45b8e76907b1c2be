-- The ids of jobs: given once, also by jobs that are refused.
-- Made when first called.

local ids = {}

local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local time = require 'runtime/time'
local set_text, text_at = cache.set_text, cache.text_at
local int = numbers.int
local now_text = time.now_text

-- The id of a job that was refused is not given again.
local id_key = ns .. 'jobs:last_id'
local last_id

function ids.next_ids(n)
  local first = (last_id or tonumber(text_at(id_key) or 0)) + 1
  last_id = first + n - 1
  set_text(id_key, string.format('%.0f', last_id))
  return first
end

-- The same from the next hundred on: which piece a job may be in follows from its id.
function ids.next_hundred(n)
  local last = last_id or tonumber(text_at(id_key) or 0)
  last_id = math.ceil((last + 1) / 100) * 100 - 1
  return ids.next_ids(n)
end

function ids.next_id() return string.format('%.0f', ids.next_ids(1)) end

-- Who asks has seen this id. When none as high was given, Redis has gone back to data from before it: what was given since
-- is not given again, and everybody can read when that was, and which ids are lost.
function ids.must_have_given(id)
  local given = tonumber(text_at(id_key) or 0)
  if id <= given then return end
  local times = tonumber(((text_at(ns .. 'epoch') or '0'):match('^%d+')))
  set_text(id_key, int(id))
  set_text(ns .. 'epoch', int(times + 1) .. ',' .. now_text .. ',' .. int(given + 1) .. ',' .. int(id))
end

return ids
