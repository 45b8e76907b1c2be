-- A shelf is a string with one answer per line, for answers that are stored for minutes. Writing a shelf costs no extra
-- command, but each expiring string costs one.

-- A larger answer has its own string, because every call reads and writes a whole shelf.
local SHELF_BYTES = 4096

local function line_on(shelf, key)
  local text = shelf ~= '' and cache.text_at(shelf)
  if not text or not text:find('\t' .. key .. '\n', 1, true) then return end
  for line, of in text:gmatch('([^\n]*)\t([^\t\n]*)\n') do
    if of == key then return line end
  end
end

local function without_old(text)
  local from = 1
  while true do
    local till, next_one = text:match('^(%d+)[^\n]*\n()', from)
    if not till or tonumber(till) > time.now then return text:sub(from) end
    from = next_one
  end
end

function idempotency.recall(call)
  local key = call.once
  if key == '' then return end
  local text = line_on(call.shelf, key) or cache.text_at(key)
  if not text then return end
  local till, print, answer = text:match('^(%d+)[\n\t]([^\n\t]*)[\n\t](.*)$')
  if not till then readable.note(key, text) end
  if not till or tonumber(till) <= time.now then return end
  if print ~= call.fingerprint then return nil, 'taken' end
  return readable.decode(answer, key) or nil, nil
end

function idempotency.remember(call, answer)
  local key, fingerprint, shelf, ms = call.once, call.fingerprint, call.shelf, tonumber(call.period)
  if key == '' then return end
  local till, text = numbers.int(time.now + ms), cjson.encode(answer)
  if shelf ~= '' then
    local shelved = without_old(cache.text_at(shelf) or '') .. table.concat({ till, fingerprint, text, key }, '\t')
      .. '\n'
    if #shelved <= SHELF_BYTES then return cache.set_text(shelf, shelved) end
  end
  quota.expire(#key + #fingerprint + #text, ms)
  cache.set_expiring(key, till .. '\n' .. fingerprint .. '\n' .. text, ms)
end

idempotency.USED = 'this Idempotency-Key was used with another body. Use a new key'
