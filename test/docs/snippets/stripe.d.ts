// The part of Stripe's package that the pages use.

declare module 'stripe' {
  namespace Stripe {
    type InvoicePaidEvent = { data: { object: { id: string } } }
  }
  export default Stripe
}
