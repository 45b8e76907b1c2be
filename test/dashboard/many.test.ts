import { suite } from './many.ts'

suite(12_000, 60_000)
