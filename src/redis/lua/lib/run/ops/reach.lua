function reach.check(me, id)
  if me.token and me.reach ~= 'all' and trees.root(id) ~= trees.root(me.id) then
    journal.refuse('FORBIDDEN',
      'job ' .. id .. ' is not in the same tree as job ' .. me.id
      .. ': register the worker with reach "all"')
  end
end
