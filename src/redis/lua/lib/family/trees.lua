trees.MAX_DEPTH = 1000

function trees.root(id)
  local roots = journal.within(kin.memo, 'roots')
  if roots[id] then return roots[id] end
  local top = id
  for _ = 1, trees.MAX_DEPTH do
    local doc = cache.find(top)
    if not (doc and doc.parent) then break end
    top = doc.parent
  end
  roots[id] = top
  return top
end

function trees.adopt(id, doc, orphan, name)
  local orphan_doc = cache.need(orphan)
  if orphan_doc.parent then
    journal.refuse('WRONG_STATUS', 'job ' .. orphan .. ' already has a parent (job ' .. orphan_doc.parent .. ')')
  end
  local above, levels = id, 0
  while above do
    if above == orphan then
      journal.refuse('REFUSED',
        'job ' .. id .. ' cannot adopt job ' .. orphan .. ': a job cannot adopt itself or its ancestors')
    end
    if levels > trees.MAX_DEPTH then
      journal.refuse('LIMITED',
        'job ' .. id .. ' cannot adopt a job, because it has more than ' .. trees.MAX_DEPTH .. ' ancestors')
    end
    local above_doc = cache.find(above)
    above = above_doc and above_doc.parent
    levels = levels + 1
  end
  if doc.terminating then journal.refuse('WRONG_STATUS', 'job ' .. id .. ' is terminating') end
  kin.memo.roots = nil
  kin.link(id, doc, name, orphan, orphan_doc)
end

local function few_children(id, doc, most)
  if not doc.has_children then return {} end
  local key, ids = kin.children_key(id), {}
  local scanned = cache.writes.dels[key] and { '0', {} } or redis.call('HSCAN', key, 0, 'COUNT', 4 * most)
  if scanned[1] ~= '0' then return nil end
  local pending = cache.writes.hashes[key] or {}
  for i = 1, #scanned[2], 2 do
    if pending[scanned[2][i]] == nil then ids[#ids + 1] = scanned[2][i + 1]:match('^%d+') end
  end
  for _, entry in pairs(pending) do
    if entry then ids[#ids + 1] = entry:match('^%d+') end
  end
  return ids
end

function trees.of(id, most)
  local tree, at_job = { id }, 1
  while at_job <= #tree and #tree < most do
    local doc = cache.find(tree[at_job])
    if doc then
      local ids = few_children(tree[at_job], doc, most)
      if not ids then return tree, true end
      cache.fetch_jobs(ids)
      for _, child in ipairs(ids) do
        if child ~= id then tree[#tree + 1] = child end
      end
    end
    at_job = at_job + 1
  end
  return tree, at_job <= #tree
end
