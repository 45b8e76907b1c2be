/** Contains the original JSON text, or `~` and the base64 of a MessagePack slice. JSON text never starts with `~`. */
export type Encoded = string & { readonly __wire?: never }
