import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')
const { name } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { name: string }
const listed = execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 50_000_000,
})
const bill = JSON.parse(listed) as { metadata: { component: { name: string } }; components: unknown[] }
// npm writes the name of the folder, which may differ from the name of the package.
bill.metadata.component.name = name
mkdirSync(join(root, 'dist'), { recursive: true })
writeFileSync(join(root, 'dist/sbom.cdx.json'), `${JSON.stringify(bill, null, 2)}\n`)
console.log(`dist/sbom.cdx.json: ${bill.components.length} packages`)
