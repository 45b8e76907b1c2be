local on_families = {}

local branches = require 'family/branches'
local kin = require 'family/kin'
local trees = require 'family/trees'
local aliases = require 'job/aliases'
local create = require 'job/create'
local ending = require 'job/ending'
local results = require 'job/results'
local reach = require 'run/ops/reach'
local verbs = {}

function verbs.spawn(me, name, spec, args)
  spec.name = name
  local id = create.one(spec, args, me.id)
  if me.note then me.note('m' .. id .. ' ' .. name, 1) end
end

function verbs.forget(me) ending.forget(me.id, cache.need(me.id)) end

function verbs.adopt(me, job, name)
  local orphan = aliases.resolve(job)
  cache.need(orphan)
  reach.check(me, orphan)
  trees.adopt(me.id, cache.need(me.id), orphan, name)
end

function verbs.disown(me, child)
  local id = kin.need_child(me.id, child)
  local doc = cache.need(id)
  kin.unlink(id, doc)
  ending.free(id, doc)
  kin.missed(me.id)
end

function verbs.inherit(me, child)
  local id = kin.need_child(me.id, child)
  local doc = cache.need(id)
  kin.unlink(id, doc)
  results.drop(id, doc)
end

function verbs.family(me) branches.run(me) end

function on_families.named(word) return verbs[word] end

return on_families
