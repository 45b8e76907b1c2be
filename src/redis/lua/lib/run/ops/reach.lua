function reach.check(me, id)
  if me.token and me.reach ~= 'all' and trees.root(id) ~= trees.root(me.id) then
    journal.refuse('FORBIDDEN',
      'job ' .. id .. ' is not in the family of job ' .. me.id
      .. ': expected a job in the same tree, or a worker that is registered with reach "all"')
  end
end
