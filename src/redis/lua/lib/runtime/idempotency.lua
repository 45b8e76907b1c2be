-- What is kept under a key of the caller's, so that asking twice is safe: the answer, what it was the answer to, and
-- until when it holds.
-- Made when first called.

local idempotency = {}

local cache = require 'runtime/cache'
local numbers = require 'runtime/numbers'
local time = require 'runtime/time'
local set_expiring, text_at = cache.set_expiring, cache.text_at
local int = numbers.int
local now = time.now

-- The answer that was kept, or nothing; 'taken' when the key was used for another body.
function idempotency.recall(key, fingerprint)
  local text = key ~= '' and text_at(key)
  if not text then return end
  local till, print, answer = text:match('^(%d+)\n([^\n]*)\n(.*)$')
  if tonumber(till) <= now then return end
  if print ~= fingerprint then return nil, 'taken' end
  return cjson.decode(answer)
end

function idempotency.remember(key, fingerprint, answer, ms)
  if key ~= '' then set_expiring(key, int(now + ms) .. '\n' .. fingerprint .. '\n' .. cjson.encode(answer), ms) end
end

idempotency.USED = 'this Idempotency-Key was used for another body'

return idempotency
