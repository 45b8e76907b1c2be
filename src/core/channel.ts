/** @example isBelow('/shop/7/paid', '/shop') // true, as for '/shop' itself */
export const isBelow = (name: string, channel: string): boolean =>
  name === channel || name.startsWith(channel === '/' ? channel : `${channel}/`)
