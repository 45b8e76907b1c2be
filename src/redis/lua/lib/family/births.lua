-- Detached and adopted jobs stay in the count of their first root, so that callers cannot evade the maximum.
function births.count(id, doc, parent, parent_doc)
  local MAX_BORN, MAX_LEVELS = 100000, 1000
  local root, level = (parent_doc.root_and_level or ''):match('^(%d+),(%d+)$')
  if not root or not cache.find(root) then root, level = parent, 0 end
  local root_doc = cache.find(root)
  local born = (tonumber(root_doc.descendants) or 0) + 1
  if born > MAX_BORN then
    journal.refuse('LIMITED', 'job ' .. root .. ': expected at most ' .. MAX_BORN .. ' existing jobs below it')
  end
  if level + 1 > MAX_LEVELS then
    journal.refuse('LIMITED',
      'job ' .. parent .. ' is ' .. MAX_LEVELS .. ' generations below job ' .. root .. ', the maximum depth')
  end
  cache.change(root, root_doc, fields.descendants, born)
  cache.change(id, doc, fields.root_and_level, root .. ',' .. level + 1)
end

function births.uncount(doc)
  local root = doc.root_and_level:match('^%d+')
  local root_doc = cache.find(root)
  local born = root_doc and tonumber(root_doc.descendants)
  if born then cache.change(root, root_doc, fields.descendants, born > 1 and born - 1 or nil) end
end
