// The types of columns and parameters in code. A query names a type for each (query.ts), and tests compare them with the types that
// PostgreSQL reports.

import { isUuid } from "@pawl/core/name/ids";
import { z } from "zod";

const isText = (value: unknown): value is string => typeof value === "string";

/** text. The code may give it a narrower type. */
export const text = <T extends string = string>(): z.ZodType<T> => z.custom<T>(isText);
/** uuid. */
export const uuid = <T extends string = string>(): z.ZodType<T> =>
  z.custom<T>((value) => isText(value) && isUuid(value));
/** integer, bigint or double precision. */
export const number = (): z.ZodType<number> => z.number();
/** boolean. */
export const flag = (): z.ZodType<boolean> => z.boolean();
/** A timestamptz column in milliseconds since the epoch. */
export const time = number;
/** A timestamptz parameter, or a column of a row in the driver's own form. */
export const date = (): z.ZodType<Date> => z.date();
/** json or jsonb, parsed. */
export const json = <T extends object = object>(): z.ZodType<T> =>
  z.custom<T>((value) => typeof value === "object");
/** bytea. */
export const bytes = (): z.ZodType<Buffer> => z.instanceof(Buffer);

/** The same type, or null. */
export const orNull = <T>(column: z.ZodType<T>): z.ZodType<T | null> => column.nullable();
/** An array of the type. */
export const list = <T>(column: z.ZodType<T>): z.ZodType<readonly T[]> =>
  z.custom<readonly T[]>(
    (value) => Array.isArray(value) && value.every((item) => column.safeParse(item).success),
  );

type Shape = Readonly<Record<string, z.ZodType>>;

/** An array of each type: the parameters of a statement that unnests rows. */
export const lists = <S extends Shape>(
  shape: S,
): { readonly [Name in keyof S]: z.ZodType<readonly z.infer<S[Name]>[]> } => each(shape, list);

/** Each type, or null: the columns of an outer join. */
export const orNulls = <S extends Shape>(
  shape: S,
): { readonly [Name in keyof S]: z.ZodType<z.infer<S[Name]> | null> } => each(shape, orNull);

function each<Made>(shape: Shape, make: (column: z.ZodType) => z.ZodType): Made {
  const entries = Object.entries(shape).map(([name, column]) => [name, make(column)]);
  // The result has the names of the shape. The two callers know its types.
  return Object.fromEntries(entries) as Made;
}
