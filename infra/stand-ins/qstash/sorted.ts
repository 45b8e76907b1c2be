/** Adds an item to a sorted list, after the items of the same rank. Most items belong near the end. */
export function insert<T>(list: T[], item: T, rankOf: (item: T) => number): void {
  const rank = rankOf(item)
  list.splice(list.findLastIndex((other) => rankOf(other) <= rank) + 1, 0, item)
}
