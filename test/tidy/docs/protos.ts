// Reads a .proto file of ours as text: services, messages and enums with the comments above them. Generated code has no comments, so
// the pages of reference are made from the contracts themselves.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../sources.ts";

/** A field of a message, a value of an enum or a method of a service. */
export interface Member {
  readonly name: string;
  /** The type of a field; the request of a method. */
  readonly type: string;
  /** The answer of a method. */
  readonly answer: string;
  readonly comment: string;
}

/** A service, a message or an enum. */
export interface Declaration {
  readonly kind: "service" | "message" | "enum";
  readonly name: string;
  readonly comment: string;
  readonly members: readonly Member[];
}

const OPENING = /^(service|message|enum) (\w+) \{(\})?/;
const METHOD = /^rpc (\w+)\(((?:stream )?\w+)\) returns \(((?:stream )?\w+)\)/;
const FIELD = /^((?:repeated |optional )?(?:map<[^>]+>|[\w.]+)) (\w+) = \d+/;
const VALUE = /^(\w+) = \d+;/;

/** The declarations of one file, in order. A oneof's fields count as fields of its message. */
export function readProto(path: string): readonly Declaration[] {
  const found: { kind: Declaration["kind"]; name: string; comment: string; members: Member[] }[] =
    [];
  let comment: string[] = [];
  for (const raw of readFileSync(join(ROOT, "proto", path), "utf8").split("\n")) {
    const line = raw.trim();
    if (line.startsWith("//")) {
      comment.push(line.slice(2).trim());
      continue;
    }
    const opening = OPENING.exec(line);
    const words = comment.join(" ");
    if (opening !== null) {
      // The expression allows these three only.
      const kind = opening[1] as Declaration["kind"];
      found.push({ kind, name: opening[2] ?? "", comment: words, members: [] });
    } else {
      const member = memberOf(line, words);
      if (member !== undefined) found.at(-1)?.members.push(member);
    }
    comment = [];
  }
  return found;
}

function memberOf(line: string, comment: string): Member | undefined {
  const method = METHOD.exec(line);
  if (method !== null) {
    const [, name = "", type = "", answer = ""] = method;
    return { name, type, answer, comment };
  }
  const field = FIELD.exec(line);
  if (field !== null && !/^(syntax|package|import|option|return)\b/.test(line)) {
    return { name: field[2] ?? "", type: field[1] ?? "", answer: "", comment };
  }
  const value = VALUE.exec(line);
  return value === null ? undefined : { name: value[1] ?? "", type: "", answer: "", comment };
}

/** A comment without the name that it begins with: "StartRun accepts …" becomes "Accepts …", "X means that …" the rest alone. */
export function withoutName({ name, comment }: { name: string; comment: string }): string {
  const start = new RegExp(`^${name} (means that )?`);
  const rest = comment.replace(start, "");
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}
