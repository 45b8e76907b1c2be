import { alertInput, alertList, muteInput } from '../core/schemas.ts'
import { route } from './route.ts'

const unalertInput = alertInput.omit({ reason: true })

export const alerts = {
  list: route('GET /v1/alerts', {
    scope: 'read',
    summary: 'List open alerts and mutes',
    description: 'Returns the newest alerts first. Requires the option `alerts` of createWorker.',
    answers: { 200: alertList },
    handle: ({ engine }) => engine.alerts.list(),
  }),

  acknowledge: route('POST /v1/alerts/acknowledge', {
    scope: 'write',
    summary: 'Acknowledge an open alert',
    description: 'The alert is not sent again until its condition has ended.',
    body: alertInput,
    handle: ({ engine, body: { alert, reason }, caller }) =>
      engine.alerts.acknowledge(alert, { by: caller!.name, reason }),
  }),

  unacknowledge: route('POST /v1/alerts/unacknowledge', {
    scope: 'write',
    summary: 'Undo an acknowledgement',
    description: 'If the alert is still open, its reminders resume.',
    body: unalertInput,
    handle: ({ engine, body }) => engine.alerts.acknowledge(body.alert),
  }),

  mute: route('POST /v1/alerts/mute', {
    scope: 'write',
    summary: 'Mute an alert',
    description:
      'Until the mute ends, the alert is not sent. If it was already sent, a message reports when it is over. You can also mute an alert that is not open.',
    body: muteInput,
    handle: ({ engine, body: { alert, reason, until }, caller }) =>
      engine.alerts.mute(alert, { by: caller!.name, reason, until }),
  }),

  unmute: route('POST /v1/alerts/unmute', {
    scope: 'write',
    summary: 'Unmute an alert',
    description: 'If the alert is open and was not sent before, the next check sends its message.',
    body: unalertInput,
    handle: ({ engine, body }) => engine.alerts.unmute(body.alert),
  }),
}
