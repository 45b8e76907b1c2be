import { suite } from './numbers.ts'

suite(2_000, 20_000)
