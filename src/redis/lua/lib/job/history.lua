local kept = { fields.sequence, fields.created_at, fields.queue, fields.class, fields.args, fields.priority,
  fields.created_by, fields.labels, fields.api_key, fields.tag, fields.group, fields.parent, fields.child_name,
  fields.failures, fields.lost_runs, fields.ran_at, fields.ended_at, fields.last_run, fields.aliases,
  fields.scheduled_for, fields.run_number }

local function is_kept(doc)
  return outbox.is_on() and doc.queue ~= 'sidejob' and doc.queue:sub(1, 8) ~= 'sidejob.'
end

function history.note_end(id, doc, place, value)
  if not is_kept(doc) then return end
  local facts = { [fields.place] = place, [fields.redacts] = values.get_value(id, doc, fields.redacts) }
  for i = 1, #kept do
    local field = kept[i]
    if doc[field] and not cache.is_beside(field, doc[field]) then facts[field] = outbox.bounded(doc[field]) end
  end
  outbox.push('e', id, facts, value, doc.args == '^' and values.side_key(id, fields.args) or nil)
end

function history.note_piece(number, piece, state)
  if not is_kept(cache.common_of(piece)) then return end
  outbox.push('p', number,
    pieces.text_of({ mask = piece.mask, first = piece.first, state = state, common = piece.common, args = piece.args }))
end

function history.note_run(id, doc, line)
  if not is_kept(doc) then return end
  outbox.push('r', id, { [fields.sequence] = doc.sequence, [fields.queue] = doc.queue, [fields.class] = doc.class,
    [fields.redacts] = values.get_value(id, doc, fields.redacts) }, line)
end
