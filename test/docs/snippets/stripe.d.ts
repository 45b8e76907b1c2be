// As much of Stripe's package as the pages name.

declare module 'stripe' {
  namespace Stripe {
    type InvoicePaidEvent = { data: { object: { id: string } } }
  }
  export default Stripe
}
