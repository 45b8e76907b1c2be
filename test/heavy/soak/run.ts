// npm run soak                       lists the soak tests
// npm run soak -- limits             runs the soak test `limits`
// npm run soak -- limits jobs=500    runs this soak test with 500 jobs

import { loadavg } from 'node:os'
import { claims } from './claims.ts'
import { downloads } from './downloads.ts'
import { families } from './families.ts'
import { limits } from './limits.ts'
import { rate } from './rate.ts'
import { repeats } from './repeats.ts'
import { type Show, type Sizes, tableOf } from './show.ts'
import { streams } from './streams.ts'
import { timers } from './timers.ts'

const shows: Record<string, Show> = { claims, downloads, families, limits, rate, repeats, streams, timers }

const load = (): string =>
  loadavg()
    .map((n) => n.toFixed(2))
    .join(' ')

function sizesOf(show: Show, words: string[]): Sizes {
  const given = words.map((word) => word.split('=') as [string, string])
  for (const [name, text] of given) {
    if (!(name in show.sizes)) throw new Error(`${name} is no size of it; it has ${Object.keys(show.sizes)}`)
    if (!Number.isFinite(Number(text))) throw new Error(`${name} is a number, not "${text}"`)
  }
  return { ...show.sizes, ...Object.fromEntries(given.map(([name, text]) => [name, Number(text)])) }
}

async function main([name = '', ...words]: string[]): Promise<number> {
  const show = shows[name]
  if (!show) {
    for (const [known, { title, sizes }] of Object.entries(shows))
      console.log(`${known.padEnd(10)} ${title}  ${JSON.stringify(sizes)}`)
    return name ? 1 : 0
  }
  const sizes = sizesOf(show, words)
  console.log(`${show.title} ${JSON.stringify(sizes)}; load ${load()} before`)
  const rows = await show.run(sizes, (line) => console.log(`  … ${line}`))
  console.log(tableOf(rows).join('\n'))
  console.log(`load ${load()} after`)
  return rows.every(({ met }) => met) ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
