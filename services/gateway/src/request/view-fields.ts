// The fields of a request that say in which form the caller wants a stream.

import { nameOf, setOf, typeNameOf, typesOf, valuesOf } from "@pawl/platform/wire/fields";
import { fromWireStreamMode, STREAM_MODES, type StreamMode } from "@pawl/platform/wire/stream-item";
import { invalidField } from "@pawl/core/fault/engine-error";

/** The form of a stream. Empty sets mean no mode, or no filter. */
export interface View {
  readonly modes: ReadonlySet<StreamMode>;
  readonly types: ReadonlySet<string>;
  readonly nodeIds: ReadonlySet<string>;
  readonly nodeTypes: ReadonlySet<string>;
}

interface ViewFields {
  readonly types: readonly string[];
  readonly modes: readonly number[];
  readonly nodeIds: readonly string[];
  readonly nodeTypes: readonly string[];
}

/** The form that a request of the contract names. @throws INPUT_INVALID */
export const viewOf = ({ types, modes, nodeIds, nodeTypes }: ViewFields): View => ({
  types: typesOf(types),
  modes: new Set(
    valuesOf("modes", "a mode of a stream", [...setOf("modes", modes)], fromWireStreamMode),
  ),
  nodeIds: setOf(
    "node_ids",
    nodeIds.map((id) => nameOf("node_ids", id)),
  ),
  nodeTypes: setOf("node_types", nodeTypes.map(typeNameOf)),
});

/** The form that the lists of a query name. @throws INPUT_INVALID */
export function viewOfQuery(listOf: (name: string) => readonly string[]): View {
  const modes = listOf("modes").map((name) => {
    const mode = STREAM_MODES.find((known) => known === name);
    if (mode === undefined)
      throw invalidField("modes", "UNKNOWN_MODE", `must be of ${STREAM_MODES.join(", ")}`);
    return mode;
  });
  return {
    types: typesOf(listOf("types")),
    modes: new Set<StreamMode>(modes),
    nodeIds: setOf(
      "nodes",
      listOf("nodes").map((id) => nameOf("nodes", id)),
    ),
    nodeTypes: setOf("nodeTypes", listOf("nodeTypes").map(typeNameOf)),
  };
}
