import { suite } from './numbers/suite.ts'

suite(2_000, 20_000)
