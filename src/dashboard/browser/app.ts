import { startForms } from './app/forms.ts'
import { startFurther } from './app/further.ts'
import { startKeys } from './app/keys.ts'
import { startList } from './app/list.ts'
import { startListening } from './app/listen.ts'
import { startLive } from './app/live.ts'
import { startPreferences } from './app/looks.ts'
import { startOpened } from './app/opened.ts'
import { startPreviews } from './app/preview.ts'
import { startSelection } from './app/selection.ts'
import { startSession } from './app/session.ts'
import { startTimes } from './app/times.ts'
import { startZoom } from './app/zoom.ts'

startPreferences()
startTimes()
startSession()
startForms()
startSelection()
startList()
startFurther()
startPreviews()
startZoom()
startLive()
startListening()
startKeys()
startOpened()
