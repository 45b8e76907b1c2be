local hints_key = ns .. 'hints'
local listened_key = ns .. 'listened'

local hints_text, hints_system, hints_till, hints_version

local function rebuilt(text)
  readable.note(hints_key, text)
  hints_system, hints_till = 1, 0
  hints_version = hints.stored_version() or ''
  cache.set_text(hints_key, '1,0,' .. hints_version)
end

function hints.known()
  if cache.raw[hints_key] == nil then cache.fetch({ hints_key, listened_key }) end
  local text = cache.text_at(hints_key) or '0,0,'
  if text ~= hints_text then
    local system, till, version = text:match('^(%d+),(%d+),(.*)$')
    hints_text, hints_version = text, version
    hints_system = tonumber(system)
    hints_till = tonumber(till)
    if not system then rebuilt(text) end
  end
  return hints_system, hints_till, hints_version
end

local MOST_LISTENED = 100
local listened = {}
local function read_listened()
  if listened.text then return listened end
  hints.known()
  local text = cache.text_at(listened_key) or ''
  listened.text, listened.till, listened.jobs = text, {}, {}
  for till, channel in text:gmatch('(%d+) ([^\n]+)') do
    if tonumber(till) > time.now then
      listened.till[channel] = tonumber(till)
      local id = channel:match('^/sidejob/job/(%d+)$')
      if id then listened.jobs[id] = true end
    end
  end
  return listened
end

function hints.hears(channel)
  local system, till = hints.known()
  if system > 0 or till > time.now then return true end
  return next(read_listened().till) ~= nil and #hints.heard_at(hints.levels(channel)) > 0
end

function hints.hears_one_of(first, n)
  for id in pairs(read_listened().jobs) do
    if tonumber(id) >= first and tonumber(id) < first + n then return true end
  end
  return false
end

function hints.listen(ms, channels)
  local known, lines = read_listened().till, {}
  for _, channel in ipairs(channels) do known[channel] = math.max(known[channel] or 0, time.now + ms) end
  for channel, till in pairs(known) do lines[#lines + 1] = numbers.int(till) .. ' ' .. channel end
  table.sort(lines)
  listened.text = nil
  local _, till = hints.known()
  if #channels == 0 or #lines > MOST_LISTENED then return hints.set { till = math.max(till, time.now + ms) } end
  cache.set_text(listened_key, table.concat(lines, '\n'))
end

hints.messages = {}

function hints.stored_version() return (cache.text_at(ns .. 'constraints') or ''):match('"version":"(%d+)"') end

function hints.set(changed)
  local system, till, version = hints.known()
  cache.set_text(hints_key, (changed.system or system) .. ',' .. numbers.int(changed.till or till) .. ','
    .. (changed.version or version))
end

-- A message to '/a/b' reaches '/a/b', '/a' and '/'. A message to 'a/b' reaches 'a/b' and 'a', but not '/'.
local levels_of = {}
function hints.levels(channel)
  if levels_of[channel] then return levels_of[channel] end
  local all, up = { channel }, channel
  levels_of[channel] = all
  while true do
    up = up:gsub('/+$', ''):match('^(.*)/[^/]*$')
    if not up then return all end
    if up == '' then
      if channel ~= '/' then all[#all + 1] = '/' end
      return all
    end
    all[#all + 1] = up
  end
end

function hints.heard_at(levels)
  local _, till = hints.known()
  if till > time.now then return levels end
  local known, heard = read_listened().till, {}
  for _, level in ipairs(next(known) and levels or {}) do
    if known[level] then heard[#heard + 1] = level end
  end
  return heard
end
function hints.hears_job(id) return read_listened().jobs[id] end

function hints.publish(channel, json)
  if hints.hears(channel) then journal.push(hints.messages, { channel, '@\n\nl\n' .. json }) end
end

function hints.publish_status(id, doc, status)
  if doc.quiet then return end
  hints.publish('/sidejob/job/' .. id, '{"status":"' .. status .. '"}')
  if doc.parent then
    hints.publish('/sidejob/children/' .. doc.parent,
      '{"job":' .. id .. ',"name":' .. cjson.encode(doc.child_name or '') .. ',"status":"' .. status .. '"}')
  end
end
