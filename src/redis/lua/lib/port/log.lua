local MAX_ENTRY, MAX_DEFAULTS = 65536, 2048
local unsaid = { read = {}, write = {}, bytes = 0, more = 0 }
function log.begin() unsaid = { read = {}, write = {}, bytes = 0, more = 0 } end

local function values_at(rows, port)
  for i = #rows, math.max(1, #rows - 10), -1 do
    local at_port = rows[i].port
    if at_port.id == port.id and at_port.field == port.field then return rows[i].values end
  end
  rows[#rows + 1] = { port = port, values = {} }
  return rows[#rows].values
end

local function is_redacted(id, doc, part, name)
  local paths = values.get_value(id, doc, fields.redacts)
  if not paths then return false end
  local place = '"' .. part .. '.' .. name
  return paths:find('"' .. part .. '"', 1, true) or paths:find(place .. '"', 1, true)
    or paths:find(place .. '.', 1, true)
end

-- Users may write text that looks like a sealed (encrypted) value into a context or the name of a channel. Escaping
-- its `~` keeps the value and prevents decryption.
local function inert(json)
  return json:find('"~f', 1, true) and json:gsub('"~f', '"\\u007ef') or json
end

local function note_value(rows, port, value)
  if is_redacted(port.id, port.doc, redis_keys.direction[port.dir], port.name) then value = '"[redacted]"' end
  unsaid.bytes = unsaid.bytes + #value + #port.name + 30
  if unsaid.bytes > MAX_ENTRY then
    unsaid.more = unsaid.more + 1
  else
    local values = values_at(rows, port)
    values[#values + 1] = value:sub(1, 1) == '~' and cjson.encode(value) or inert(value)
  end
end

function log.note(what, port, items)
  if not hints.hears('/sidejob/log') then return end
  for _, item in ipairs(items) do
    local context, channel, flags, value = envelope.parts(item)
    if not flags:find('l', 1, true) then
      unsaid.context, unsaid.channel = context, channel
      note_value(unsaid[what], port, value)
    end
  end
end

local function note_defaults(rows, id, defaults)
  for name, n in pairs(defaults) do
    local doc = cache.need(id)
    local port = port_refs.at(id, doc, 'i', name)
    local item = values.get_value(id, doc, 'd' .. port.field)
    local _, _, _, value = envelope.parts(item or '=')
    local noted = math.min(item and n or 0, MAX_DEFAULTS)
    for _ = 1, noted do note_value(rows, port, value) end
    unsaid.more = unsaid.more + (item and n or 0) - noted
  end
end

local function text_of(rows)
  local texts = {}
  for i, row in ipairs(rows) do
    texts[i] = '{"job":' .. row.port.id .. ',"' .. redis_keys.direction[row.port.dir] .. 'port":'
      .. cjson.encode(row.port.name) .. ',"data":[' .. table.concat(row.values, ',') .. ']}'
  end
  return '[' .. table.concat(texts, ',') .. ']'
end

local function members_of(object)
  local members = object and object:match('^%s*{(.*)}%s*$')
  return members and members:find('%S') and ',' .. members or ''
end

local function has_member(own, name)
  if not own:find('"' .. name .. '"', 1, true) then return false end
  local ok, members = pcall(cjson.decode, '{' .. own:sub(2) .. '}')
  return ok and members[name] ~= nil
end

local function common_members(job, own)
  local moment = has_member(own, 'timestamp') and '' or ',"timestamp":' .. time.now_text
  local whose = (not job or has_member(own, 'job')) and '' or ',"job":' .. job
  return moment .. whose
end

local function text(job, entry)
  if entry:sub(1, 2) == '~f' then return '{' .. common_members(job, ''):sub(2) .. ',"$sealed":"' .. entry .. '"}' end
  if not entry:find('^%s*{') then return entry end
  local own = members_of(entry)
  return '{' .. (common_members(job, own) .. own):sub(2) .. '}'
end

local function split_rows(rows, id, reads)
  if not reads then return rows, {} end
  local first, later = {}, {}
  for _, row in ipairs(rows) do
    local n = row.port.id == id and row.port.dir == 'i' and (reads[row.port.name] or 0) or #row.values
    for i, value in ipairs(row.values) do
      local values = values_at(i <= n and first or later, row.port)
      values[#values + 1] = value
    end
  end
  return first, later
end

-- `id` is nil for a call outside a run. `reads`: port → number of values that the run has read. `defaults`: port →
-- number of times that the run has read the default.
function log.end_entry(id, context, reads, defaults)
  if not hints.hears('/sidejob/log') then return end
  local read, later = split_rows(unsaid.read, id, reads)
  note_defaults(read, id, defaults or {})
  if unsaid.bytes == 0 then return end
  if #read + #unsaid.write + unsaid.more > 0 then
    local own = '{"read":' .. text_of(read) .. ',"write":' .. text_of(unsaid.write) .. '}'
    local channel = not id and unsaid.channel ~= '' and '{"channel":' .. cjson.encode(unsaid.channel) .. '}'
    local more = unsaid.more > 0 and '{"more":' .. unsaid.more .. '}'
    local around = members_of(context or (not id and unsaid.context))
    local all = inert(common_members(id, around) .. around .. members_of(channel)) .. members_of(own)
      .. members_of(more)
    hints.publish('/sidejob/log', '{' .. all:sub(2) .. '}')
  end
  log.begin()
  unsaid.read, unsaid.bytes = later, #later
end

function log.keep(job, level, entry, job_doc)
  journal.push(cache.writes.log, { job or '', level, entry, job_doc.class or '' })
  if tonumber(job_doc.history or 0) > 0 then
    journal.push(cache.writes.records, { redis_keys.side(job, 'log'), level .. '\n' .. entry, 0 })
  end
end

local MAX_LOG = 16384

function log.line(job, level, entry, fault_doc)
  local message, reason, rest = (fault_doc and entry or ''):match('^{"message":(".-"),("reason":"%a+")(.*)$')
  if message and is_redacted(job, fault_doc, 'error', 'message') then message, rest = '"[redacted]"', '}' end
  if message then entry = '{"error":' .. message .. ',' .. reason .. rest:gsub('^,"stack":', ',"backtrace":', 1) end
  if #entry > MAX_LOG then
    entry = '{"message":"a log entry of ' .. #entry .. ' bytes: only its size is stored","$size":' .. #entry .. '}'
  end
  log.keep(job, level, entry, fault_doc or (job and cache.find(job)) or {})
  if hints.hears('/sidejob/log') then hints.publish('/sidejob/log', text(job, entry)) end
end
