import { suite } from './numbers/suite.ts'

// 10,000,000 ended jobs
suite(100_000, 10_000_000)
