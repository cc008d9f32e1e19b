// The conformance program of an SDK, served to a cluster by its executor.
import type { PawlClient } from "@pawl/client";
import { onTestFinished, type TestContext } from "vitest";
import { Program } from "../handler-kit/program.ts";
import { type HANDLERS, sdkOrSkip } from "../handler-kit/programs/sdks.ts";
import { until } from "../support/until.ts";
import type { NodeText } from "./graph.ts";

interface Where {
  readonly client: PawlClient;
  /** The address at which the executor takes handler processes. */
  readonly address: string;
}

/** Starts the program and waits until it serves. `leave` ends it and waits until the cluster knows. */
export async function serveKit(
  { client, address }: Where,
  find: (typeof HANDLERS)[keyof typeof HANDLERS],
  context: TestContext,
): Promise<{ readonly leave: () => Promise<void> }> {
  const { command, env } = await sdkOrSkip(find, context);
  const program = new Program(command, { ...env, PAWL_HANDLER_ADDRESS: address });
  onTestFinished(() => program.kill());
  const isServed = async (): Promise<boolean> =>
    (await client.executors.list()).some(({ processName }) => processName === "kit");
  await until(isServed, { what: `the program to serve: ${program.stderr}` });
  return {
    leave: async () => {
      program.signal("SIGTERM");
      await program.exit("an end after SIGTERM");
      await until(async () => !(await isServed()), { what: "the end of its session" });
    },
  };
}

/** A node whose handler asks for these actions of the program. */
export const act = (asks: string | readonly string[], more: NodeText = {}): NodeText => ({
  type: "kit.act@1",
  input: { asks: typeof asks === "string" ? asks : [...asks] },
  ...more,
});
