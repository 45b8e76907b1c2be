-- What is kept under a key of the caller's, so that asking twice is safe: the answer, what it was the answer to, and
-- until when it holds.

-- The answer that was kept, or nothing; 'taken' when the key was used for another body.
local function recall(key, fingerprint)
  local text = key ~= '' and text_at(key)
  if not text then return end
  local till, print, answer = text:match('^(%d+)\n([^\n]*)\n(.*)$')
  if tonumber(till) <= now then return end
  if print ~= fingerprint then return nil, 'taken' end
  return cjson.decode(answer)
end

local function remember(key, fingerprint, answer, ms)
  if key ~= '' then set_expiring(key, int(now + ms) .. '\n' .. fingerprint .. '\n' .. cjson.encode(answer), ms) end
end

local USED = 'this Idempotency-Key was used for another body'
