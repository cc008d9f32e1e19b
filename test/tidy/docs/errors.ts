// The tables of docs/reference/errors.md: reasons of calls and causes of nodes from core, the meaning of a reason from the contract.
import { CAUSES, retryRuleOf } from "@pawl/core/fault/cause";
import { FAILURE_CLASSES } from "@pawl/core/fault/class";
import { NEXT_STEPS, REASONS, type Reason } from "@pawl/core/fault/reason";
import { readProto } from "./protos.ts";
import { code, table } from "./table.ts";

/** Every reason an RPC may fail with, by name. */
export function reasonTable(): string {
  const [reasons] = readProto("pawl/errors/v1/reason.proto");
  const words = new Map(
    reasons?.members.map(({ name, comment }) => [
      name.replace(/^REASON_/, ""),
      // The contract names the gRPC code first; the table has a column for it.
      comment.replace(/^[A-Z_]+\. /, ""),
    ]),
  );
  const rows = Object.entries(REASONS)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([reason, { code: grpc, retryable }]) => [
      code(reason),
      code(grpc),
      retryable ? "yes" : "no",
      words.get(reason) ?? "",
      // The keys of a literal table are exactly its declared ones.
      NEXT_STEPS[reason as Reason],
    ]);
  return table(["reason", "gRPC code", "retry", "meaning", "what to do"], rows);
}

/** Every cause that Pawl itself gives a failed node, by name. */
export function causeTable(): string {
  const rows = Object.entries(CAUSES)
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([cause, row]) => {
      const rule = retryRuleOf(cause);
      return [code(cause), code(row.class), rule === "never" ? rule : code(rule), row.means];
    });
  return table(["cause", "class", "retried as", "meaning"], rows);
}

/** Every class of failures, in the order of the list. */
export const classTable = (): string =>
  table(
    ["class", "what it promises"],
    Object.entries(FAILURE_CLASSES).map(([name, promise]) => [code(name), promise]),
  );
