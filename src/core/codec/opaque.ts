/** JSON text as it came, or `~` and the base64 of a MessagePack slice. JSON text never begins with `~`. */
export type Encoded = string & { readonly __wire?: never }
