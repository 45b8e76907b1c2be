import { join } from 'node:path'
import { buildSite } from './site.ts'

const folder = join(import.meta.dirname, '../../dist/docs')
const pages = await buildSite(folder)
console.log(`${pages.length} pages: ${join('dist', 'docs', 'index.html')}`)
