-- Texts with lines of the form `key\tvalue` after the first line break.

function keyed.get(text, key)
  local _, to = text:find('\n' .. key .. '\t', 1, true)
  return to and text:sub(to + 1, text:find('\n', to, true) - 1)
end

function keyed.set(text, key, value)
  local _, to = text:find('\n' .. key .. '\t', 1, true)
  if not to then return text .. key .. '\t' .. value .. '\n' end
  local stop = text:find('\n', to, true)
  return text:sub(1, to) .. value .. text:sub(stop)
end
