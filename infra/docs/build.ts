import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { facades } from '../../src/facades/index.ts'
import { openapi } from '../../src/http/openapi.ts'
import { list, listed } from '../../src/http/routes.ts'
import { readExamples, withExamples } from './openapi.ts'
import { buildSite } from './site.ts'

const folder = join(import.meta.dirname, '../../dist/docs')
const pages = await buildSite(folder)
const routes = [...list, ...facades.flatMap(({ name, routes }) => listed(name, routes))]
const document = withExamples(openapi(routes, 'https://jobs.example.com'), readExamples())
writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document))
console.log(`${pages.length} pages: ${join('dist', 'docs', 'index.html')}`)
