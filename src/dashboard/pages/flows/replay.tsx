import type { FlowView } from '../../../engine/engine.ts'
import { Act } from '../../parts/act.tsx'
import { Icon } from '../../parts/layout.tsx'
import { about } from '../../words/text.ts'
import { Modes, Tool } from './board.tsx'

export const KEEP = '2h'

function Controls() {
  const button = (what: string, icon: string, label: string, hotkey: string) => (
    <Tool data={{ 'data-replay': what }} icon={icon} label={label} hotkey={hotkey} small />
  )
  return (
    <div class="row">
      {button('back', 'back', 'Back one event', ',')}
      <button class="btn small" type="button" data-replay="play">
        <Icon name="play" size={12} />
        <span class="word">Play</span>
      </button>
      {button('fwd', 'fwd', 'Forward one event', '.')}
      {button('link', 'copy', 'Copy a link that plays from here', 'y')}
      <Modes label="Speed" data="replay" of={[1, 10, 60].map((speed) => [`x${speed}`, `${speed}×`])} on="x10" />
    </div>
  )
}

const MODES = [
  ['live', 'Live'],
  ['replay', 'Replay'],
] as const

function Mode({ keep, flow }: { keep: number; flow: number }) {
  return (
    <div class="row">
      <span class="note kept" title={`The last ${about(keep)} are recorded.`} />
      <Modes label="Mode" data="replay" of={MODES} on="live" />
      <Act act="forget" at={`/flows/${flow}`} scope="write" icon="stop" kind="quiet" small label="Stop recording" />
    </div>
  )
}

export function WhatHappened({ view: { flow, record } }: { view: FlowView }) {
  if (record === null)
    return (
      <section class="replaybox wide" id="unrecorded" aria-label="Activity">
        <div class="rhead">
          <h2>Activity</h2>
          <span class="dim clip">Not recorded. Record to replay any moment.</span>
          <Act act="record" at={`/flows/${flow.id}`} scope="write" icon="play" small>
            Record for {about(7_200_000)}
          </Act>
        </div>
      </section>
    )
  return (
    <section
      class="replaybox"
      id="recorded"
      aria-label="Activity"
      data-island="replay"
      data-job={flow.id}
      data-keep={record}
    >
      <div class="rhead">
        <Controls />
        <span class="dim clip event">Loading the recording …</span>
        <Mode keep={record} flow={flow.id} />
      </div>
      <div class="runlanes">
        <div class="lnames" aria-hidden="true" />
        <div class="ltime" role="slider" aria-label="Time" aria-valuenow={0} aria-valuetext="now" tabIndex={0}>
          <svg width="100%" preserveAspectRatio="none" aria-hidden="true" />
        </div>
      </div>
      <svg class="laxis" width="100%" height="16" aria-hidden="true" />
    </section>
  )
}
