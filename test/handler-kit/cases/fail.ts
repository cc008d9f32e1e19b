// Failures: causes, wishes and details, and what they must not hold.

import { must, textOf } from "../broken-rule.ts";
import type { Group } from "../case.ts";
import { echo, invoke, SECRET, TOKEN } from "../kit.ts";

export const FAIL: Group = {
  name: "fail",
  cases: [
    {
      name: "a throw is provider_error with the message, and the policy may retry it",
      rule: "P15",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.fail@1", { mode: "throw", message: "the disk is full" });
        const failure = await session.item("failure", id);
        must(failure.cause === "provider_error" && !failure.permanent, "provider_error", failure);
        must(/\w+.*the disk is full/s.test(failure.message), "class and message", failure.message);
        await echo(session);
      },
    },
    {
      name: "a limit of the function's own is user_timeout, which is not the host's, and the policy may retry it",
      rule: "P15",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.fail@1", { mode: "timeout", message: "" });
        const failure = await session.item("failure", id);
        must(failure.cause === "user_timeout" && !failure.permanent, "user_timeout", failure);
        await echo(session);
      },
    },
    {
      name: "an error has at most ten frames",
      rule: "P15",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.fail@1", { mode: "throw", message: "deep" });
        const { detailsJson, message } = await session.item("failure", id);
        const { frames } = JSON.parse(detailsJson || "{}") as { frames?: unknown };
        must(
          Array.isArray(frames) && frames.length > 0 && frames.length <= 10,
          'details {"frames": [...]} with one to ten frames',
          detailsJson,
        );
        must(
          frames.every((frame) => typeof frame === "string"),
          "frames as texts",
          frames,
        );
        must(message.split("\n").length <= 2, "no frames in the message", message);
      },
    },
    {
      name: "no failure holds the environment or the token",
      rule: "P15",
      run: async (kit) => {
        const session = await kit.open();
        const modes = ["throw", "permanent", "cause", "not_json"];
        const ids = modes.map((mode) =>
          invoke(session, "kit.fail@1", { mode, message: "no", cause: "kit.x" }),
        );
        ids.push(invoke(session, "kit.typed@1", { text: "a" }), invoke(session, "kit.no@1", {}));
        for (const id of ids) {
          const text = textOf(await session.item("failure", id));
          for (const secret of [SECRET, TOKEN])
            must(!text.includes(secret), "no value of the environment", text);
        }
      },
    },
    {
      name: "a permanent failure says so, with its own cause",
      rule: "P15",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.fail@1", { mode: "permanent", message: "declined" });
        const failure = await session.item("failure", id);
        must(
          failure.cause === "kit.permanent" && failure.permanent,
          "a permanent kit.permanent",
          failure,
        );
        must(failure.message.includes("declined"), "the message", failure.message);
      },
    },
    {
      name: "a failure can ask for a time to wait",
      rule: "P15",
      run: async (kit) => {
        const session = await kit.open();
        const input = { mode: "retry_after", message: "busy", retry_after_ms: 1500 };
        const failure = await session.item("failure", invoke(session, "kit.fail@1", input));
        must(failure.retryAfterMs === 1500n && !failure.permanent, "retry_after_ms 1500", failure);
        must(failure.cause === "kit.busy", "the cause kit.busy", failure.cause);
      },
    },
    {
      name: "a cause of the user's own and its details arrive as they are",
      rule: "P15",
      run: async (kit) => {
        const session = await kit.open();
        const input = { mode: "cause", message: "no", cause: "acme.card_declined" };
        const failure = await session.item("failure", invoke(session, "kit.fail@1", input));
        must(
          failure.cause === "acme.card_declined" && !failure.permanent,
          "the cause, not permanent",
          failure,
        );
        const details = failure.detailsJson.replace(/\s/g, "");
        must(details === '{"mode":"cause"}', '{"mode":"cause"}', details);
      },
    },
    {
      name: "an output that cannot be written as JSON is a Failure",
      rule: "P11",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.fail@1", { mode: "not_json", message: "" });
        const { cause } = await session.item("failure", id);
        must(
          /^(output_invalid|provider_error)$/.test(cause),
          "output_invalid or provider_error",
          cause,
        );
        await echo(session);
      },
    },
    {
      name: "a handler that exits the process reports nothing",
      rule: "P15",
      program: "own",
      run: async (kit) => {
        const session = await kit.open();
        const id = invoke(session, "kit.crash@1", {});
        const { code } = await kit.program.exit("an exit of the program");
        must(code === 3, "the exit code 3", code);
        must(session.all("failure", id).length === 0, "no Failure", "Failure");
      },
    },
  ],
};
