-- An envelope is `=value` or `@context\nchannel\nflags\nvalue`.

function envelope.parts(item)
  if item:sub(1, 1) == '=' then return '', '', '', item:sub(2) end
  return item:match('^@([^\n]*)\n([^\n]*)\n([^\n]*)\n(.*)$')
end

function envelope.with_channel(item, channel)
  local context, from, flags, value = envelope.parts(item)
  return '@' .. context .. '\n' .. (from ~= '' and from or channel) .. '\n' .. flags .. '\n' .. value
end

-- Adds a flag with the time in seconds at which a value arrived over a wire: `t1700000000`.
function envelope.stamped(items, seconds)
  local list, moment = {}, 't' .. seconds
  for i, item in ipairs(items) do
    local context, channel, flags, value = envelope.parts(item)
    list[i] = '@' .. context .. '\n' .. channel .. '\n' .. flags:gsub('t%d+', '') .. moment .. '\n' .. value
  end
  return list
end
