import type { Asset } from './asset.ts'
import { asset as app } from './built/app-js.generated.ts'
import { asset as board } from './built/board-js.generated.ts'
import { asset as doctor } from './built/doctor-js.generated.ts'
import { asset as flow } from './built/flow-css.generated.ts'
import { asset as mono } from './built/geist-mono-woff2.generated.ts'
import { asset as sans } from './built/geist-woff2.generated.ts'
import { asset as limits } from './built/limits-css.generated.ts'
import { asset as palette } from './built/palette-js.generated.ts'
import { asset as schedules } from './built/schedules-css.generated.ts'
import { asset as style } from './built/style-css.generated.ts'

export const assets: readonly Asset[] = [app, board, doctor, palette, style, flow, limits, schedules, sans, mono]
