// `npm run docs`: builds the manual as a site in dist/docs, which works from files or any server.

import { join } from 'node:path'
import { buildSite } from './site.ts'

const folder = join(import.meta.dirname, '../../dist/docs')
const pages = await buildSite(folder)
console.log(`${pages.length} pages: ${join('dist', 'docs', 'index.html')}`)
