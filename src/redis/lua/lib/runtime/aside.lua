local MAX_LISTED, MAX_KEPT = 100, 65536

function aside.settle()
  local key = ns .. 'unreadable'
  local list = cache.text_at(key) or ''
  local _, n = list:gsub('\n', '')
  for full, text in pairs(readable.damaged) do
    local name = full:sub(#ns + 1)
    if n < MAX_LISTED and not list:find(' ' .. name .. '\n', 1, true) then
      n = n + 1
      list = list .. time.now_text .. ' ' .. name .. '\n'
      cache.set_text(key, list)
      if not name:match('^jobs?:%d+$') then cache.set_text(key .. ':' .. name, text:sub(1, MAX_KEPT)) end
    end
  end
end
