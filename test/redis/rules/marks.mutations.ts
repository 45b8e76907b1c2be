import { type Change, of } from '../mutation.ts'

export const mutations = [
  ...of(
    132,
    'lib/runtime/cache.lua',
    [" == '^' and not chosen[field] end", " == '^' end", 'any text like the mark is mistaken for a mark'],
    ...[
      'class',
      'created_by',
      'tag',
      'child_name',
      'group',
      'limits',
      'held_limits',
      'reserved_limit',
      'waiting_limit',
    ].map(
      (name): Change => [
        " == '^' and not chosen[field] end",
        ` == '^' and (not chosen[field] or field == fields.${name}) end`,
        `${name} that is the mark is taken for it`,
      ],
    ),
  ),
  ...of(132, 'lib/doctor/expected.lua', [
    'cache.is_beside(field, value) and',
    "value == '^' and",
    'the doctor misses unwanted entries, and removes the name of a job',
  ]),
]
