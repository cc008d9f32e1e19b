// Fields that are absent where the wire has a default.

/** A field that is present only with a value. */
export const given = <Key extends string, Value>(key: Key, value: Value | undefined) =>
  (value === undefined ? {} : { [key]: value }) as { readonly [K in Key]?: Value };

/** A field that is present only with a text: the wire has "" for none. */
export const named = <Key extends string>(key: Key, text: string) =>
  given(key, text === "" ? undefined : text);

/** A field that is present only with a number above 0: the wire has 0 for none. */
export const counted = <Key extends string>(key: Key, count: bigint) =>
  given(key, count === 0n ? undefined : Number(count));
