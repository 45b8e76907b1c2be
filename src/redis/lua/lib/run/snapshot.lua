-- In bytes. The run fetches values beyond this maximum when it needs them.
local MAX_INPUTS, MAX_SIDE = 2097152, 2097152

local inputs_of = {}

local function flat_inputs(id, doc)
  if inputs_of[id] then return inputs_of[id] end
  local flat, bytes = {}, 0
  for _, port in ipairs(port_refs.of(id, doc, 'i')) do
    local pushed, taken = ports.counts(port)
    if bytes < MAX_INPUTS and pushed ~= taken and not doc['v' .. port.field] then
      local items = snapshot.first_values(port, pushed - taken)
      bytes = bytes + tables.bytes(items)
      flat[#flat + 1] = row_of.input { port = port.name, items = items }
    end
  end
  inputs_of[id] = { flat = flat, bytes = bytes }
  return inputs_of[id]
end

local function legacy(id, doc)
  local kept = doc.keep_result and doc.keep_result ~= '0' and results.of(id)
  if doc.place == PLACE.completed then return 'finished', kept and kept:match('^[^\n]*\n[^\n]*\n(.*)$') or '' end
  if doc.place == PLACE.failed then return 'failed', values.get_value(id, doc, fields.last_error) or '' end
  return 'cancelled', ''
end

local MAX_FAMILY = 8388608

local function flat_family(parent, doc, children)
  if not doc.wait_over and not doc.awaited_children then return {} end
  local names, ids = {}, {}
  local function see(name, entry)
    local id, status = (entry or ''):match('^(%d+),(%a+),')
    if not states.ends[status] then return end
    ids[#ids + 1] = id
    names[id] = name
  end
  if doc.awaited_children then
    local awaited = values.decoded(parent, doc, fields.awaited_children) or {}
    cache.hfetch(kin.children_key(parent), awaited)
    for _, name in ipairs(awaited) do see(name, cache.hget(kin.children_key(parent), name)) end
  else
    for i = 1, #children, 2 do see(children[i], children[i + 1]) end
  end
  table.sort(ids, function(a, b) return tonumber(a) < tonumber(b) end)
  local rows, bytes = {}, 0
  for id, child_doc in cache.each(ids) do
    local how, left = legacy(id, child_doc)
    local args = values.get_value(id, child_doc, fields.args) or ''
    bytes = bytes + #left + #args
    if bytes > MAX_FAMILY then
      journal.refuse('TOO_LARGE', 'args and results of the children of job ' .. parent .. ': expected at most 8 MiB')
    end
    rows[#rows + 1] = row_of.ended_child { name = names[id], id = id, class = child_doc.class, how = how, args = args,
      left = left }
  end
  return rows
end

-- If a job has more steps or more bytes of steps, the snapshot contains no steps. The run fetches them when it needs
-- them.
local MAX_STEPS, MAX_STEP_BYTES = 100, 65536

local function flat_steps(id, doc)
  if doc.has_steps ~= '1' then return {}, '' end
  local scanned = redis.call('HSCAN', redis_keys.side(id, 'steps'), 0, 'COUNT', MAX_STEPS)
  local flat = scanned[2]
  if scanned[1] ~= '0' or #flat > 2 * MAX_STEPS or tables.bytes(flat) > MAX_STEP_BYTES then return {}, 'more' end
  for i = 2, #flat, 2 do flat[i] = flat[i]:gsub('^@[%d,]*\n', '', 1) end
  return flat, ''
end

function snapshot.all_of(id, doc)
  local steps, more_steps = flat_steps(id, doc)
  local children, total = snapshot.flat_children(id, doc)
  return row_of.claimed { document = cache.document(id), inputs = flat_inputs(id, doc).flat,
    side = snapshot.flat_side_values(id, doc), children = children, steps = steps, child_count = total,
    family = flat_family(id, doc, children), wires = doc.followed and snapshot.flat_wires(id, doc, children) or {},
    more_steps = more_steps }
end

local MAX_VALUES, MAX_BYTES, FIRST_VALUES = 1000, 1048576, 10

function snapshot.first_values(port, n, skip)
  local items, bytes, step = {}, 0, FIRST_VALUES
  n = math.min(n, MAX_VALUES)
  while #items < n do
    local more = lists.now(port, math.min(step, n - #items), (skip or 0) + #items)
    for _, item in ipairs(more) do
      bytes = bytes + #item
      if bytes > MAX_BYTES and #items > 0 then return items end
      items[#items + 1] = item
    end
    if #more == 0 then return items end
    step = math.max(1, math.floor((MAX_BYTES - bytes) * #items / bytes))
  end
  return items
end

function snapshot.fetch_side_values(ids)
  local keys, bytes = {}, 0
  for id, doc in cache.each(ids) do
    bytes = bytes + values.of(doc)
    if bytes <= MAX_SIDE then tables.append(keys, select(2, values.beside(id, doc))) end
  end
  cache.fetch(keys)
end

function snapshot.flat_side_values(id, doc)
  local fields, keys = values.beside(id, doc)
  local flat, bytes = {}, 0
  if (values.of(doc)) <= MAX_SIDE then cache.fetch(keys) end
  for i, field in ipairs(fields) do
    local text = cache.text_at(keys[i]) or ''
    bytes = bytes + #text
    if bytes > MAX_SIDE then return flat end
    flat[#flat + 1] = field
    flat[#flat + 1] = text
  end
  return flat
end

function snapshot.weigh(id, doc)
  return #cache.document(id) + tables.bytes(snapshot.flat_side_values(id, doc)) + flat_inputs(id, doc).bytes
end

function snapshot.callback_of(doc)
  local callback = doc.callback_job and cache.find(doc.callback_job)
  if not callback then return {} end
  return row_of.callback_job { document = cache.document(doc.callback_job),
    error = values.get_value(doc.callback_job, callback, fields.last_error) or '' }
end

local MAX_CHILDREN = 1000

function snapshot.flat_children(id, doc)
  if not doc.has_children then return {}, 0 end
  local key = kin.children_key(id)
  local scanned = redis.call('HSCAN', key, 0, 'COUNT', MAX_CHILDREN)
  if scanned[1] == '0' then return scanned[2], #scanned[2] / 2 end
  local total = redis.call('HLEN', key)
  return total > MAX_CHILDREN and scanned[2] or redis.call('HGETALL', key), total
end

local MAX_PASSED = 65536
local passed_bytes = 0

local function passed(doc, field)
  local text = doc['l' .. field] or ''
  passed_bytes = passed_bytes + #text
  return passed_bytes <= MAX_PASSED and text or ''
end

local function flat_port(port, name, closely)
  local doc, field, pushed, taken, dropped = port.doc, port.field, ports.counts(port)
  if port.name == '*' or dropped then return nil end
  local wires, default = doc['w' .. field], doc['d' .. field]
  local left = closely and doc['m' .. field] or ''
  local idle = not wires and left == '' and (pushed == taken or (name == '' and not closely))
    and not (default and port.dir == 'o' and name ~= '')
  if idle then return nil end
  local oldest = closely and pushed ~= taken and lists.now(port, 1)[1] or ''
  return row_of.wiring { child = name, side = port.dir, port = port.name, size = pushed - taken,
    has_default = default and '1' or '', wires = wires or '', oldest = oldest, left = left,
    passed = closely and passed(doc, field) or '' }
end

-- `closely`: for the page of a flow, also returns the job's own ports and the values that passed through the wires.
function snapshot.flat_wires(id, doc, children, closely)
  local rows = {}
  local function add(name, of_id, of)
    for _, port in ipairs(port_refs.of(of_id, of)) do rows[#rows + 1] = flat_port(port, name, closely) end
  end
  add('', id, doc)
  local ids = kin.ids_in(children)
  cache.fetch_jobs(ids)
  for i, child_id in ipairs(ids) do
    local child = cache.find(child_id)
    if child then add(children[2 * i - 1], child_id, child) end
  end
  return rows
end

function snapshot.is_plain(row)
  for i = 2, #row do
    local is_list = type(row[i]) == 'table'
    if is_list and #row[i] > 0 or not is_list and row[i] ~= '' and tonumber(row[i]) ~= 0 then return false end
  end
  return true
end

function snapshot.with_documents(ids)
  local rows = {}
  for id, doc in cache.each(ids) do
    rows[#rows + 1] = row_of.stale { id = id, document = cache.document(id), side = snapshot.flat_side_values(id, doc) }
  end
  return rows
end
