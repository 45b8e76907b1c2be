import { array } from './array.ts'
import { concat } from './concat.ts'
import { connect } from './connect.ts'
import { delay } from './delay.ts'
import { each } from './each.ts'
import { filter } from './filter.ts'
import { flatten } from './flatten.ts'
import { flow } from './flow.ts'
import { groupsOf } from './groups_of.ts'
import { join } from './join.ts'
import { keyValue } from './key_value.ts'
import { map } from './map.ts'
import { merge } from './merge.ts'
import { object } from './object.ts'
import { permutation } from './permutation.ts'
import { placeholder } from './placeholder.ts'
import { product } from './product.ts'
import { repeat } from './repeat.ts'
import { setDefault } from './set_default.ts'
import { split } from './split.ts'
import { wait } from './wait.ts'
import { waitEach } from './wait_each.ts'
import { widget } from './widget.ts'
import { zip } from './zip.ts'

export const core = [
  array,
  concat,
  connect,
  delay,
  each,
  filter,
  flatten,
  flow,
  groupsOf,
  join,
  keyValue,
  map,
  merge,
  object,
  permutation,
  placeholder,
  product,
  repeat,
  setDefault,
  split,
  wait,
  waitEach,
  widget,
  zip,
]
