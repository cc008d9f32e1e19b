// Turns zod's issues into violations: a path, an UPPER_SNAKE reason and a message for each fault.

import { z } from "zod";
import { excerpt, violationPath, type Report } from "./violation.ts";

/** Options of a refinement that breaks the rule `reason`. */
export const rule = (reason: string, message: string) => ({ message, params: { reason } });

/** A text in which `faultOf` finds no fault. */
export const checkedText = (
  faultOf: (text: string) => { readonly reason: string; readonly message: string } | undefined,
  base = z.string(),
) =>
  base.superRefine((text, context) => {
    const fault = faultOf(text);
    if (fault !== undefined)
      context.addIssue({ code: "custom", ...rule(fault.reason, fault.message) });
  });

/** Reports each issue of a failed parse. `prefix` is the path of the parsed value in the definition. */
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
        const message = `${excerpt(key)} is not a key here; check its spelling`;
        report(keyPath, "UNKNOWN_KEY", message, nodeIdOf(keyPath));
      }
    } else report(path, reasonOf(issue), messageOf(issue), nodeIdOf(path));
  }
}

/** A required value is missing: a value of one type, or of one of several types. */
function isMissing(issue: z.core.$ZodIssue): boolean {
  if (issue.code === "invalid_type") return issue.message.endsWith("received undefined");
  if (issue.code !== "invalid_union" || issue.errors.length === 0) return false;
  return issue.errors.every((option) =>
    option.some((inner) => inner.path.length === 0 && isMissing(inner)),
  );
}

function reasonOf(issue: z.core.$ZodIssue): string {
  if (isMissing(issue)) return "REQUIRED";
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

const ISSUES_MAX = 5;

/** The first issues as one line. It contains paths and rules and never values, because a config may hold secrets. */
export const issueText = ({ issues }: z.ZodError): string =>
  issues
    .slice(0, ISSUES_MAX)
    .map((issue) => `${issue.path.map(String).join(".") || "config"}: ${issue.message}`)
    .join("; ");

/** The first fault, as a message. */
export const firstMessage = (issues: readonly z.core.$ZodIssue[]): string =>
  issues[0] === undefined ? "is wrong" : messageOf(issues[0]);

// zod's own messages name types and bounds, never the value.
function messageOf(issue: z.core.$ZodIssue): string {
  if (isMissing(issue)) return "is required";
  if (issue.code === "invalid_union") return excerptLong(unionMessage(issue));
  return excerptLong(issue.message.replace(/^Invalid (input|option): /, ""));
}

/** The expectations of the alternatives. zod's message for a union only reports that none fits. */
function unionMessage({ errors, message }: z.core.$ZodIssueInvalidUnion): string {
  const wanted = errors.flatMap((form) => form.filter(({ path }) => path.length === 0));
  return wanted.length === 0 ? message : [...new Set(wanted.map(messageOf))].join("; or ");
}

const excerptLong = (text: string): string => text.slice(0, 300);
