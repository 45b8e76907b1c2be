/** JSON text as received, or `~` and the base64 of MessagePack. JSON text never starts with `~`. */
export type Encoded = string & { readonly __wire?: never }
