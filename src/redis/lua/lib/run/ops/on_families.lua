local verbs = {}

-- A caller creates a job without a parent if the name is ''.
function verbs.spawn(me, name, spec, job_args)
  spec.name = name
  local id = create.one(spec, job_args, (me.token or name ~= '') and me.id)
  me.answer = { id }
  if me.note then me.note('m' .. id .. ' ' .. name, 1) end
end

function verbs.forget(me) ending.forget(me.id, cache.need(me.id)) end

function verbs.adopt(me, job, name)
  local orphan = aliases.need(job)
  reach.check(me, orphan)
  trees.adopt(me.id, cache.need(me.id), orphan, name)
end

function verbs.disown(me, child)
  local id, doc = kin.need_child(me.id, child)
  kin.unlink(id, doc)
  ending.free(id, doc)
  kin.missed(me.id)
end

function verbs.inherit(me, child)
  local id, doc = kin.need_child(me.id, child)
  kin.unlink(id, doc)
  results.drop(id, doc)
end

function verbs.family(me) branches.run(me) end

function on_families.named(word) return verbs[word] end
