// zod's issues in our words: a path, an UPPER_SNAKE reason and a message, one violation per fault.

import type { z } from "zod";
import { excerpt, violationPath, type Report } from "./violation.ts";

/** Options of a refinement that breaks the rule `reason`. */
export const rule = (reason: string, message: string) => ({ message, params: { reason } });

/** Reports each issue of a failed parse; `prefix` is where the parsed value stands in the definition. */
export function reportIssues(
  issues: readonly z.core.$ZodIssue[],
  report: Report,
  nodeIdOf: (path: string) => string,
  prefix = "",
): void {
  for (const issue of issues) {
    const path = violationPath(issue.path, prefix);
    if (issue.code === "unrecognized_keys") {
      for (const key of issue.keys) {
        const keyPath = violationPath([...issue.path, key], prefix);
        report(keyPath, "UNKNOWN_KEY", `there is no ${excerpt(key)} here`, nodeIdOf(keyPath));
      }
    } else report(path, reasonOf(issue), messageOf(issue), nodeIdOf(path));
  }
}

function reasonOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "custom": {
      const reason: unknown = issue.params?.["reason"];
      return typeof reason === "string" ? reason : "INVALID";
    }
    case "too_small":
    case "too_big":
    case "invalid_value":
    case "not_multiple_of":
      return "OUT_OF_RANGE";
    case "invalid_type":
      return issue.message.endsWith("received undefined") ? "REQUIRED" : "WRONG_TYPE";
    case "invalid_union":
    case "invalid_format":
    case "invalid_key":
    case "invalid_element":
      return "WRONG_TYPE";
    case "unrecognized_keys":
      return "UNKNOWN_KEY";
    default:
      return "INVALID";
  }
}

// zod's own messages name types and bounds, never the value itself.
const messageOf = (issue: z.core.$ZodIssue): string => excerptLong(issue.message);
const excerptLong = (text: string): string => text.slice(0, 300);
