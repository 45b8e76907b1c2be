export type { Why, WhyLimit, WhyLink } from '../../core/schemas/why.ts'
