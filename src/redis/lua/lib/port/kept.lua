local MOST = 500

local index = ns .. 'messages'

function kept.key(channel) return ns .. 'message:' .. channel end

function kept.forget(channel)
  if not cache.text_at(kept.key(channel)) then return end
  cache.replace_text(kept.key(channel), false)
  cache.zset(index, channel, false)
end

-- `item`: '' if the message exceeds 4 KiB.
function kept.keep(channel, size, item)
  local key = kept.key(channel)
  local text = cache.text_at(key)
  local counts = text and text:match('^%d+,%d+,([%d:]+)\n')
  cache.replace_text(key, time.now_text .. ',' .. size .. ',' .. minutes.counted(counts, 1) .. '\n' .. item)
  if tonumber(((counts or ''):match('^%d+'))) ~= time.minute then cache.zset(index, channel, time.minute) end
  if text then return end
  for _, oldest in ipairs(redis.call('ZRANGE', index, 0, -MOST)) do kept.forget(oldest) end
end
