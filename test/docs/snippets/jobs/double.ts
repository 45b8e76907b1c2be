export { double } from './index.ts'
