// Builds the browser files of the dashboard as modules, so that a Worker needs no build.
// Names contain a hash, so that browsers may cache files forever.

import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, transform } from 'esbuild'
import { packed } from './packed.ts'

const root = join(import.meta.dirname, '../src/dashboard')
const target = join(root, 'built')

type Asset = { name: string; type: string; content: string }

const hashOf = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex').slice(0, 10)

const named = (name: string, content: string | Buffer): string => name.replace(/(\.\w+)$/, `-${hashOf(content)}$1`)

const filesOf = (folder: string): string[] => readdirSync(join(root, folder)).sort()

const fonts: Asset[] = filesOf('assets/fonts')
  .filter((file) => file.endsWith('.woff2'))
  .map((file) => {
    const bytes = readFileSync(join(root, 'assets/fonts', file))
    return { name: named(file, bytes), type: 'font/woff2', content: bytes.toString('base64') }
  })

async function stylesheet(): Promise<Asset> {
  const text = filesOf('assets/style')
    .map((file) => readFileSync(join(root, 'assets/style', file), 'utf8'))
    .join('\n')
    .replace(/url\(fonts\/([\w-]+)\.woff2\)/g, (_, font: string) => {
      const found = fonts.find(({ name }) => name.replace(/-[0-9a-f]{10}\.woff2$/, '') === font)
      if (!found) throw new Error(`there is no font ${font}`)
      return `url(${found.name})`
    })
  const { code } = await transform(text, { loader: 'css', minify: true, target: 'chrome123' })
  return { name: named('style.css', code), type: 'text/css; charset=utf-8', content: code }
}

async function stylesheetOf(file: string): Promise<Asset> {
  const text = readFileSync(join(root, 'assets', file), 'utf8')
  const { code } = await transform(text, { loader: 'css', minify: true, target: 'chrome123' })
  return { name: named(file, code), type: 'text/css; charset=utf-8', content: code }
}

async function script(file: string): Promise<Asset> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'browser', file)],
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    legalComments: 'none',
  })
  const text = outputFiles[0]!.text
  return { name: named(file.replace(/\.tsx?$/, '.js'), text), type: 'text/javascript; charset=utf-8', content: text }
}

const generated = (text: string): string =>
  `// Built by infra/build-dashboard.ts; \`npm run dashboard\` builds it again.\n\n${text}`

const moduleOf = ({ name, type }: Asset, imports: string, body: string): string =>
  generated(
    `import type { Asset } from '../asset.ts'\n${imports}\nexport const asset: Asset = { name: '${name}', type: '${type}', body: () => ${body} }\n`,
  )

const fileOf = ({ name }: Asset): string =>
  `${name.replace(/-[0-9a-f]{10}(\.\w+)$/, '$1').replace('.', '-')}.generated.ts`

async function made(): Promise<Map<string, string>> {
  const scripts = filesOf('browser').filter((file) => /\.tsx?$/.test(file))
  const sprite = readFileSync(join(root, 'assets/sprite.svg'), 'utf8').trim()
  const styles = filesOf('assets').filter((file) => file.endsWith('.css'))
  const own = await Promise.all([stylesheet(), ...styles.map(stylesheetOf), ...scripts.map(script)])
  const font = "import { fromBase64 } from '../../core/codec/base64.ts'\n"
  return new Map([
    ...fonts.map((one) => [fileOf(one), moduleOf(one, font, `fromBase64('${one.content}')`)] as const),
    ...own.map(
      (one, i) =>
        [fileOf(one), moduleOf(one, "import { texts } from './texts.generated.ts'\n", `texts()[${i}]!`)] as const,
    ),
    [
      'texts.generated.ts',
      generated(
        `import { unpacking } from '../../core/codec/packed.ts'\n\nexport const texts = unpacking(\n  '${packed(own.map(({ content }) => content))}',\n  (texts: string[]) => texts,\n)\n`,
      ),
    ],
    ['sprite.generated.ts', generated(`export const sprite = ${JSON.stringify(sprite.replace(/>\s+</g, '><'))}\n`)],
  ])
}

const files = await made()
const stale = existsSync(target) ? readdirSync(target).filter((file) => !files.has(file)) : []
const wrong = [...files]
  .filter(([file, text]) => !existsSync(join(target, file)) || readFileSync(join(target, file), 'utf8') !== text)
  .map(([file]) => file)

mkdirSync(target, { recursive: true })
for (const file of stale) rmSync(join(target, basename(file)))
for (const file of wrong) writeFileSync(join(target, file), files.get(file)!)
