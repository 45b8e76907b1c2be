-- What a run did, as far as its job keeps a history: which ports it read and wrote, where it published, which jobs it made.
-- Made when first called.

local did = {}

local cache = require 'runtime/cache'
local change, need = cache.change, cache.need

-- What is told of one run, in bytes: of what is beyond it only how much that was.
local MOST = 4096

-- Verbs tell `run.note` what they did, and how many times: a letter for what it was, then of what.
function did.begin(run)
  local doc = need(run.id)
  if tonumber(doc.history or 0) == 0 then return end
  local all = doc.run_did and cjson.decode(doc.run_did) or { of = {}, bytes = 0, more = 0 }
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

-- The run goes on: what it has done up to here has an effect, whatever becomes of the rest.
function did.keep(run)
  if run.did then change(run.id, need(run.id), fields.run_did, cjson.encode(run.did)) end
end

return did
