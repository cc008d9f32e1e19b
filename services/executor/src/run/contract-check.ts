// The contract checks around a handler. Their findings enter the log together with the end of the attempt.

import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  contractMessage,
  type Contract,
  type ContractError,
  type Phase,
} from "@pawl/platform/contract/contract";
import { GateKind, type GateSchema } from "@pawl/proto/pawl/worker/v1/worker_service_pb";
import { failed, parsedJson, type WireResult } from "./outcome.ts";

export type WireCheck = MessageInitShape<typeof GateSchema>;

/** How an attempt ended, and the findings of its checks. */
export interface Ended {
  readonly result: WireResult;
  readonly gates?: WireCheck[];
}

/** The end of an attempt whose input breaks its contract, or undefined. The same input would break it again, so there is no retry. */
export function inputContractCheck(
  contract: Contract | undefined,
  input: unknown,
): Ended | undefined {
  const errors = contract?.(input) ?? [];
  if (errors.length === 0) return undefined;
  const message = contractMessage("input", errors);
  const result = failed("input_contract_violation", message, { permanent: true });
  return { result, gates: [violation("input", errors)] };
}

/** The result after the output contract. A retry policy may name the violation. */
export function outputContractCheck(contract: Contract | undefined, result: WireResult): Ended {
  if (contract === undefined || result.case !== "completed") return { result };
  // The value after encoding, which may differ from the handler's value (undefined, toJSON).
  const errors = contract(parsedJson(result.value.outputJson));
  if (errors.length === 0) return { result };
  const broken = failed("output_contract_violation", contractMessage("output", errors));
  return { result: broken, gates: [violation("output", errors)] };
}

const violation = (phase: Phase, errors: readonly ContractError[]): WireCheck => ({
  kind: GateKind.CONTRACT_VIOLATED,
  phase,
  detailsJson: Buffer.from(JSON.stringify(errors)),
});
