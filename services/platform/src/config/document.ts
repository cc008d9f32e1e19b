// A variable that holds more than a word: JSON as it stands, or the path of a JSON or YAML file, which is where secrets belong.
// Every fault of it is found at once and named by its place, never by its value.

import { readFileSync } from "node:fs";
import { readText } from "@pawl/core/definition/read-text";
import { z } from "zod";

/** What `schema` makes of the document; of an empty object when the variable is absent. */
export const document = <Schema extends z.ZodType>(schema: Schema, describe: string) =>
  z
    .string()
    .default("{}")
    .transform((text, ctx): z.output<Schema> => {
      const read = contentOf(text);
      const faults = read.ok ? [] : [read.message];
      const parsed = schema.safeParse(read.ok ? read.value : undefined);
      if (read.ok && parsed.success) return parsed.data;
      if (read.ok && parsed.error !== undefined) faults.push(...parsed.error.issues.map(issueText));
      for (const message of faults) ctx.addIssue({ code: "custom", message });
      return z.NEVER;
    })
    .describe(describe);

type Content =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

function contentOf(text: string): Content {
  if (/^\s*\{/.test(text)) return plain(text, "expected JSON, or the path of a JSON or YAML file");
  try {
    // Some editors begin a file with a byte order mark.
    const content = readFileSync(text, "utf8").replace(/^\ufeff/, "");
    return plain(content, "expected JSON or YAML in the file");
  } catch {
    return { ok: false, message: "expected JSON, or the path of a file that can be read" };
  }
}

function plain(text: string, expected: string): Content {
  const read = readText(text);
  return read.ok
    ? { ok: true, value: read.value }
    : { ok: false, message: `${expected} (${read.reason})` };
}

const issueText = (issue: z.core.$ZodIssue): string => {
  const path = issue.path.map(String).join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
};
