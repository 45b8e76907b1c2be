declare module 'stripe' {
  namespace Stripe {
    type InvoicePaidEvent = { data: { object: { id: string } } }
  }
  export default Stripe
}
