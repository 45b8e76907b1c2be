// Builds the dashboard's browser files, with a hash in each name so that browsers may cache them forever.

import { hash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { packed } from './packed.ts'

const root = join(import.meta.dirname, '../src/dashboard')
const target = join(root, 'built')

type Asset = { file: string; name: string; type: string; content: string }

function assetOf(file: string, type: string, bytes: string | Buffer, content = String(bytes)): Asset {
  return { file, name: file.replace('.', `-${hash('sha256', bytes).slice(0, 10)}.`), type, content }
}

const filesOf = (folder: string, like = /./): string[] =>
  readdirSync(join(root, folder))
    .filter((file) => like.test(file))
    .sort()

const fonts = filesOf('assets/fonts', /\.woff2$/).map((file) => {
  const bytes = readFileSync(join(root, 'assets/fonts', file))
  return assetOf(file, 'font/woff2', bytes, bytes.toString('base64'))
})

async function stylesheet(file: string, parts = [file]): Promise<Asset> {
  const text = parts
    .map((part) => readFileSync(join(root, 'assets', part), 'utf8'))
    .join('\n')
    .replace(/url\(fonts\/([\w.-]+)\)/g, (_, font: string) => {
      const found = fonts.find((one) => one.file === font)
      if (!found) throw new Error(`there is no font ${font}`)
      return `url(${found.name})`
    })
  const { code } = await transform(text, { loader: 'css', minify: true, target: 'chrome123' })
  return assetOf(file, 'text/css; charset=utf-8', code)
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
  return assetOf(file.replace(/\.tsx?$/, '.js'), 'text/javascript; charset=utf-8', outputFiles[0]!.text)
}

const generated = (text: string): string =>
  `// Built by infra/build-dashboard.ts; \`npm run dashboard\` builds it again.\n\n${text}`

const moduleOf = ({ name, type }: Asset, imports: string, body: string): string =>
  generated(
    `import type { Asset } from '../asset.ts'\n${imports}\nexport const asset: Asset = { name: '${name}', type: '${type}', body: () => ${body} }\n`,
  )

const fileOf = ({ file }: Asset): string => `${file.replace('.', '-')}.generated.ts`

async function made(): Promise<Map<string, string>> {
  const sprite = readFileSync(join(root, 'assets/sprite.svg'), 'utf8').trim()
  const own = await Promise.all([
    stylesheet(
      'style.css',
      filesOf('assets/style').map((file) => `style/${file}`),
    ),
    ...filesOf('assets', /\.css$/).map((file) => stylesheet(file)),
    ...filesOf('browser', /\.tsx?$/).map(script),
  ])
  const font = "import { fromBase64 } from '../../core/codec/base64.ts'\n"
  const text = "import { texts } from './texts.generated.ts'\n"
  return new Map([
    ...fonts.map((one) => [fileOf(one), moduleOf(one, font, `fromBase64('${one.content}')`)] as const),
    ...own.map((one, i) => [fileOf(one), moduleOf(one, text, `texts()[${i}]!`)] as const),
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
mkdirSync(target, { recursive: true })
for (const file of filesOf('built')) if (!files.has(file)) rmSync(join(target, file))
for (const [file, text] of files) {
  const path = join(target, file)
  if (!existsSync(path) || readFileSync(path, 'utf8') !== text) writeFileSync(path, text)
}
