-- Verbs of parents and children.
-- Made when first called.

local on_families = {}

local branches = require 'family/branches'
local kin = require 'family/kin'
local trees = require 'family/trees'
local aliases = require 'job/aliases'
local create = require 'job/create'
local ending = require 'job/ending'
local specs = require 'job/specs'
local reach = require 'run/ops/reach'
local args = require 'runtime/args'
local cache = require 'runtime/cache'
local take = args.take
local del, need = cache.del, cache.need
local verbs = {}

function verbs.spawn(me)
  local name, spec = take(), specs.take()
  spec.name = name
  create.one(spec, take(), me.id)
end

function verbs.forget(me) ending.forget(me.id, need(me.id)) end

function verbs.adopt(me)
  local orphan, name = aliases.resolve(take()), take()
  need(orphan)
  reach.check_reach(me, orphan)
  trees.adopt(me.id, need(me.id), orphan, name)
end

function verbs.disown(me)
  local child = kin.need_child(me.id, take())
  local doc = need(child)
  kin.unlink(child, doc)
  ending.free(child, doc)
  kin.missed(me.id)
end

-- It has what it wanted of a child that has ended: the child goes its own way, and its result is kept no longer.
function verbs.inherit(me)
  local child = kin.need_child(me.id, take())
  kin.unlink(child, need(child))
  del(ns .. 'result:' .. child)
end

-- One slice. Such runs say nothing about a job that runs wild.
function verbs.family(me) branches.run(me) end

function on_families.named(word) return verbs[word] end

return on_families
