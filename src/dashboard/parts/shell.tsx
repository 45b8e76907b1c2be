import type { Child } from 'hono/jsx'
import { raw } from '../../http/jsx-runtime.ts'
import { asset as appScript } from '../built/app-js.generated.ts'
import { asset as palette } from '../built/palette-js.generated.ts'
import { sprite } from '../built/sprite.generated.ts'
import { asset as style } from '../built/style-css.generated.ts'
import type { Look } from '../look.ts'
import { entryOf, type NavName, nav, thumb } from '../nav.ts'
import { atLeast } from '../words/text.ts'
import { LogOut } from './act.tsx'
import { Icon } from './layout.tsx'

export type Signs = Partial<Record<NavName, { n: number; more?: boolean; kind: 'bad' | 'warn' | ''; title?: string }>>

export type Frame = {
  look: Look
  title: string
  at?: NavName
  crumbs?: { name: string; to?: string }[]
  every?: number
  commands?: number
  slim?: boolean
  there: ReadonlySet<NavName>
  signs?: Signs
  foot?: { ok: boolean; text: string }
  scripts?: readonly string[]
  styles?: readonly string[]
  children?: Child
}

export function Logo() {
  return (
    <svg width="20" height="20" aria-hidden="true">
      <use href="#logo" />
    </svg>
  )
}

export const Sign = ({ n, more, kind, title }: NonNullable<Signs[NavName]>) => (
  <span class={`n ${kind}`.trim()} title={title}>
    {atLeast(n, more)}
  </span>
)

function Side({ look: { base, name, who }, at, signs = {}, foot = { ok: true, text: '' }, there }: Frame) {
  return (
    <aside class="side" id="side">
      <div class="brand">
        <a class="row" href={`${base}/`} aria-label="sidejob, overview">
          <Logo />
          sidejob
        </a>
        {name && <span class="tag env">{name}</span>}
      </div>
      <form class="find" action={`${base}/find`} id="find">
        <Icon name="search" size={14} />
        <input name="q" type="search" placeholder="Search or jump" aria-label="Search or jump" autocomplete="off" />
        <kbd>/</kbd>
      </form>
      {nav.map(({ title, entries }) => (
        <nav class="nav" aria-label={title}>
          {entries
            .filter(({ name }) => there.has(name))
            .map(({ name, title, path, key }) => (
              <a href={`${base}${path}`} aria-current={name === at ? 'page' : undefined} title={title} data-go={key}>
                <Icon name={name} />
                <span>{title}</span>
                {signs[name] && <Sign {...signs[name]} />}
              </a>
            ))}
        </nav>
      ))}
      <div class="side-foot">
        <span class="row">
          <span class={`ok-dot${foot.ok ? '' : ' bad'}`} />
          {foot.text}
        </span>
        <span class="row">
          <Icon name="user" size={14} />
          <span class="clip" title={`Scopes: ${who.scopes.join(', ')}`}>
            {who.name}
          </span>
          <LogOut kind="link" />
        </span>
      </div>
    </aside>
  )
}

function Top({
  look: { host, tenant, zone, theme, base },
  title,
  crumbs = [{ name: title }],
  every = 0,
  commands,
}: Frame) {
  return (
    <header class="top" id="top">
      <nav class="crumbs" aria-label="Breadcrumbs">
        {tenant !== undefined && (
          <span class="tag" title="Tenant">
            {tenant}
          </span>
        )}
        <span class="host">{host}</span>
        {crumbs.map(({ name, to }, i) => (
          <>
            <Icon name="right" size={12} />
            {to && i < crumbs.length - 1 ? (
              <a href={`${base}${to}`}>{name}</a>
            ) : (
              <span aria-current="page" class="clip">
                {name}
              </span>
            )}
          </>
        ))}
      </nav>
      <div class="right">
        <a class="btn quiet small icon phone" href={`${base}/find`} aria-label="Search">
          <Icon name="search" size={14} />
        </a>
        {every > 0 && (
          <button class="live" id="live" type="button" data-every={every} data-commands={commands}>
            <span class="word">Live</span>
            <span class="dimmer wide news" />
          </button>
        )}
        <button class="btn quiet small wide" type="button" data-do="zone" title="Time zone (z)">
          <Icon name="globe" size={14} />
          {zone}
        </button>
        <button
          class="btn quiet small icon"
          type="button"
          data-do="theme"
          aria-label="Light or dark"
          title="Light or dark (t)"
          aria-pressed={theme === 'dark'}
        >
          <Icon name="moon" size={14} />
        </button>
        <button
          class="btn quiet small icon wide"
          type="button"
          data-do="keys"
          aria-label="Keyboard shortcuts"
          title="Keyboard shortcuts (?)"
        >
          <Icon name="help" size={14} />
        </button>
      </div>
    </header>
  )
}

function Thumbs({ look: { base }, at, signs = {}, there }: Frame) {
  const shown = thumb.filter((name) => there.has(name)).map(entryOf)
  return (
    <nav class="tabbar" aria-label="Main">
      {shown.map(({ name, title, path }) => (
        <a href={`${base}${path}`} aria-current={name === at ? 'page' : undefined}>
          <Icon name={name} />
          {title}
          {signs[name]?.kind === 'bad' && <span class="dot" />}
        </a>
      ))}
      <a href={`${base}/more`} aria-current={at && thumb.includes(at) ? undefined : 'page'}>
        <Icon name="menu" />
        More
      </a>
    </nav>
  )
}

export function Document(props: {
  look: Pick<Look, 'base' | 'theme' | 'density' | 'csrf'>
  title: string
  scripts?: readonly string[]
  styles?: readonly string[]
  kind?: string
  children?: Child
}) {
  const { look, title, scripts = [], styles = [], kind, children } = props
  return (
    <html lang="en" data-theme={look.theme} data-density={look.density}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="csrf" content={look.csrf} />
        <meta name="base" content={look.base} />
        <meta name="palette" content={`${look.base}/assets/${palette.name}`} />
        <title>{title}</title>
        <link rel="icon" href="data:," />
        {[style.name, ...styles].map((name) => (
          <link rel="stylesheet" href={`${look.base}/assets/${name}`} />
        ))}
        <script type="module" src={`${look.base}/assets/${appScript.name}`} />
        {scripts.map((name) => (
          <script type="module" src={`${look.base}/assets/${name}`} />
        ))}
      </head>
      <body class={kind}>
        {raw(sprite)}
        {children}
        <section class="toasts" id="toasts" aria-label="Notifications" />
      </body>
    </html>
  )
}

export function Shell(frame: Frame) {
  const { look, title, slim, scripts, styles, children } = frame
  return (
    <Document
      look={look}
      title={`${title} · sidejob`}
      scripts={scripts}
      styles={styles}
      kind={slim ? 'slim' : undefined}
    >
      <a class="skip" href="#main">
        Skip to content
      </a>
      <div class="app">
        <Side {...frame} />
        <div class="page">
          <Top {...frame} />
          <main class="main" id="main" tabindex={-1}>
            {children}
          </main>
        </div>
      </div>
      <Thumbs {...frame} />
    </Document>
  )
}
