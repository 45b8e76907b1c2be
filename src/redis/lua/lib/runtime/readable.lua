readable.damaged = {} -- key, or key and field → its unreadable text

function readable.note(key, text)
  if readable.damaged[key] == nil then journal.put(readable.damaged, key, text) end
  return false
end

function readable.decode(text, key)
  local ok, value = pcall(cjson.decode, text)
  if ok and type(value) == 'table' then return value end
  return readable.note(key, text)
end
