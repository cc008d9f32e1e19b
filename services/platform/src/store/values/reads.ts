// Reads stored values: their rows, and the parts that are in the database.

import { bytes, number, uuid } from "../../db/columns.ts";
import { first, queriesBeside, type Queryable } from "../../db/query.ts";
import { STORED_VALUE, type StoredValue, VALUE_REF, type ValueRef } from "./values.ts";

const declare = queriesBeside(import.meta.url);

const find = declare("find", VALUE_REF, STORED_VALUE);
const readPart = declare("read_part", { generation: uuid(), part: number() }, { data: bytes() });

/** The value, if the run refers to it. @throws STORE_UNAVAILABLE */
export const findValue = (db: Queryable, ref: ValueRef): Promise<StoredValue | undefined> =>
  first(db, find, ref);

/** A part of a value in the database. @throws STORE_UNAVAILABLE */
export const readValuePart = async (
  db: Queryable,
  generation: string,
  part: number,
): Promise<Buffer | undefined> => (await first(db, readPart, { generation, part }))?.data;
