// A variable that holds a document: JSON text, or the path of a JSON or YAML file. A file is the right place for secrets. Every fault of
// the document is reported at once, by its path and never by its value.

import { readFileSync } from "node:fs";
import { readText } from "@pawl/core/definition/read-text";
import { z } from "zod";

/** The document as `schema` parses it. An absent variable counts as an empty object. */
export const document = <Schema extends z.ZodType>(schema: Schema, describe: string) =>
  z
    .string()
    .default("{}")
    .transform((text, ctx): z.output<Schema> => {
      const read = contentOf(text);
      const parsed = read.ok ? schema.safeParse(read.value) : undefined;
      if (parsed?.success === true) return parsed.data;
      const faults = read.ok ? (parsed?.error.issues.map(issueText) ?? []) : [read.message];
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
    // Some editors put a byte order mark at the start of a file.
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
