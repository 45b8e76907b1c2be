import { suite } from './many.ts'

suite(100_000)
