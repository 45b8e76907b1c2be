const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })

export const count = (n: number): string => grouped.format(n)

/** Exact below 10,000. */
export const short = (n: number): string => {
  if (n < 10_000) return count(n)
  const [size, unit] = n < 1_000_000 ? [n / 1_000, 'k'] : [n / 1_000_000, 'M']
  return `${size < 100 ? size.toFixed(1) : count(size)} ${unit}`
}

/** Never 0 for a positive share. */
export const percent = (share: number): string => {
  const n = share * 100
  if (n > 0 && n < 0.1) return 'under 0.1 %'
  return `${n < 10 && n > 0 ? n.toFixed(1) : Math.round(n)} %`
}

/** Enough digits to be positive. */
export const money = (n: number): string => n.toFixed(n > 0 ? Math.max(2, 1 - Math.floor(Math.log10(n))) : 2)

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'] as const

export const bytes = (n: number): string => {
  const step = n < 1024 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(n) / 10))
  const size = n / 1024 ** step
  return `${step === 0 || size >= 100 ? count(size) : size.toFixed(1)} ${units[step]}`
}

export const many = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`
