// A run as the public API shows it, in short names.

import { type Json, jsonOf, nodeStatusName, type PawlClient, runStatusName } from "@pawl/client";

export type State = {
  readonly status: string;
  readonly output: Json | undefined;
  /** By node; an iteration is named "map#2". */
  readonly nodes: Readonly<Record<string, string>>;
};

export async function stateOf(client: PawlClient, runId: string): Promise<State> {
  const { run } = await client.runs.get(runId);
  return {
    status: runStatusName(run.status),
    output: jsonOf(run.outputJson),
    nodes: Object.fromEntries(
      run.nodes.map(({ nodeId, iteration, status }) => [
        iteration === 0 ? nodeId : `${nodeId}#${iteration}`,
        nodeStatusName(status),
      ]),
    ),
  };
}
