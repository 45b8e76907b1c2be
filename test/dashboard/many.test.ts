import { suite } from './many.ts'

suite(12_000)
