// Books a flight and a room, and cancels the flight if no room is available.

import * as z from 'zod'
import { defineWorker, Terminal } from '../../src/index.ts'

type Booking = { id: string }
export const bookings = {
  flight: async (_key: string): Promise<Booking> => ({ id: 'F1' }),
  room: async (_key: string): Promise<Booking> => ({ id: 'R1' }),
  cancel: async (_id: string): Promise<void> => undefined,
}

export const bookTrip = defineWorker({
  class: 'book_trip',
  args: z.object({ rooms: z.boolean() }),
  result: z.object({ flight: z.string(), room: z.string() }),
  async perform(job) {
    const flight = await job.step('flight', () => bookings.flight(job.effectKey('flight')))
    const room = await job.step('room', () => (job.args.rooms ? bookings.room(job.effectKey('room')) : null))
    if (room) return { flight: flight.id, room: room.id }
    await job.step('cancel flight', () => bookings.cancel(flight.id).then(() => true))
    throw new Terminal('no room is available; the flight was cancelled')
  },
})
