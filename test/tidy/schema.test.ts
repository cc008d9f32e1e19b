// The schema a reader sees in one file is the one the migrations make.

import { readFile, writeFile } from "node:fs/promises";
import { SCHEMA } from "@pawl/platform/db/pool";
import { expect, onTestFinished, test } from "vitest";
import { dumpSchema } from "../support/dump-schema.ts";
import { freshDatabase } from "../support/postgres.ts";

const FILE = new URL("../../services/platform/src/db/schema.sql", import.meta.url);

test("the schema in one file is what the migrations make; UPDATE_SCHEMA=1 writes it anew", async () => {
  const database = await freshDatabase();
  onTestFinished(() => database.drop());
  const dump = await dumpSchema(database.url, SCHEMA);
  if (process.env["UPDATE_SCHEMA"] === "1") await writeFile(FILE, dump);
  expect(await readFile(FILE, "utf8")).toBe(dump);
});
