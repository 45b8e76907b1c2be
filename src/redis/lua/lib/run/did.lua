local MOST = 4096

local MOST_INPUTS, PER_VALUE = 65536, 32

local function taken_before(run, doc)
  local key = redis_keys.side(run.id, 'inputs')
  local kept = doc.inputs_kept and doc.next_commit and readable.decode(cache.text_at(key) or '{}', key)
  return kept and kept['token'] == run.token and kept or { ['token'] = run.token, bytes = 0, of = {} }
end

local function keep_taken(run, port, n)
  local kept = run.inputs or taken_before(run, port.doc)
  run.inputs = kept
  kept.bytes = kept.bytes + PER_VALUE * n
  if kept.bytes <= MOST_INPUTS and port.doc[port.field] then
    kept.of[port.name] = kept.of[port.name] or {}
    for _, item in ipairs(lists.items((ports.list(port)), n)) do
      kept.bytes = kept.bytes + #item
      table.insert(kept.of[port.name], item)
    end
  end
  if kept.bytes > MOST_INPUTS then kept.of = {} end
end

function did.begin(run)
  local doc = cache.need(run.id)
  if tonumber(doc.history or 0) == 0 then return end
  local all = values.decoded(run.id, doc, fields.run_did) or { of = {}, bytes = 0, more = 0 }
  run.keep = function(port, n) keep_taken(run, port, n) end
  run.note = function(what, n)
    run.did = all
    if not all.of[what] then
      if all.bytes + #what > MOST then
        all.more = all.more + n
        return
      end
      all.bytes = all.bytes + #what
    end
    all.of[what] = (all.of[what] or 0) + n
  end
end

function did.keep_inputs(run)
  if not run.inputs then return end
  cache.set_text(redis_keys.side(run.id, 'inputs'), cjson.encode(run.inputs))
  cache.change(run.id, cache.need(run.id), fields.inputs_kept, '1')
end
