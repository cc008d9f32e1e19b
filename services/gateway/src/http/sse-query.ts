// The parameters of a request for Server-Sent Events.

import { invalidField } from "@pawl/core/fault/engine-error";
import { type EdgeRequest, queryOf } from "../request/exchange.ts";

/** A parameter that may be given once. @throws INPUT_INVALID */
export function parameterOf(request: EdgeRequest, name: string): string | undefined {
  const [asked, ...more] = queryOf(request).getAll(name);
  if (more.length > 0) throw invalidField(name, "REPEATED", "is given more than once");
  return asked;
}

/** The values of a parameter, with commas or given several times. */
export const listOf = (request: EdgeRequest, name: string): readonly string[] =>
  queryOf(request)
    .getAll(name)
    .flatMap((list) => list.split(","))
    .filter((value) => value !== "");

/** A parameter that is `true` or `false`. Default false. @throws INPUT_INVALID */
export function flagOf(request: EdgeRequest, name: string): boolean {
  const text = parameterOf(request, name) ?? "false";
  if (text === "true" || text === "false") return text === "true";
  throw invalidField(name, "NOT_A_FLAG", "must be true or false");
}

/** The cursor: the parameter first, then the header that a browser sends. Undefined if the request has none. @throws INPUT_INVALID */
export function cursorIn(
  request: EdgeRequest,
  parameter: string,
): { readonly field: string; readonly text: string } | undefined {
  const asked = parameterOf(request, parameter);
  if (asked !== undefined) return { field: parameter, text: asked };
  const last = request.headers["last-event-id"];
  if (last === undefined || last === "") return undefined;
  return { field: "Last-Event-ID", text: Array.isArray(last) ? last.join() : last };
}
