// The types of columns and parameters as code sees them. A query names one for each (query.ts); tests compare them with the types
// that PostgreSQL reports.

import { isUuid } from "@pawl/core/name/ids";
import { z } from "zod";

const isText = (value: unknown): value is string => typeof value === "string";

/** text; the code may know it by a narrower type. */
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
/** A timestamptz parameter, or a column of a row that comes as the driver gives it. */
export const date = (): z.ZodType<Date> => z.date();
/** json or jsonb, parsed. */
export const json = <T extends object = object>(): z.ZodType<T> =>
  z.custom<T>((value) => typeof value === "object");
/** bytea. */
export const bytes = (): z.ZodType<Buffer> => z.instanceof(Buffer);

/** The same, or null. */
export const orNull = <T>(column: z.ZodType<T>): z.ZodType<T | null> => column.nullable();
/** An array of it. */
export const list = <T>(column: z.ZodType<T>): z.ZodType<readonly T[]> =>
  z.custom<readonly T[]>(
    (value) => Array.isArray(value) && value.every((item) => column.safeParse(item).success),
  );

type Shape = Readonly<Record<string, z.ZodType>>;

/** An array of each: the parameters of a statement that unnests rows. */
export const lists = <S extends Shape>(
  shape: S,
): { readonly [Name in keyof S]: z.ZodType<readonly z.infer<S[Name]>[]> } => each(shape, list);

/** Each or null: the columns of an outer join. */
export const orNulls = <S extends Shape>(
  shape: S,
): { readonly [Name in keyof S]: z.ZodType<z.infer<S[Name]> | null> } => each(shape, orNull);

function each<Made>(shape: Shape, make: (column: z.ZodType) => z.ZodType): Made {
  const entries = Object.entries(shape).map(([name, column]) => [name, make(column)]);
  // The names are those of the shape, and the two callers say what becomes of the types.
  return Object.fromEntries(entries) as Made;
}
