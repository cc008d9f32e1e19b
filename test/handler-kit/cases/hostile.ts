// A host that breaks the rules: the process survives it and keeps its session.

import { CancelReason } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import type { Case, Group } from "../case.ts";
import type { HostStream } from "../host-stream.ts";
import { echo, invoke, pings } from "../kit.ts";

/** Protobuf with an impossible wire type. */
const GARBAGE = Uint8Array.of(0x0f, 0xff, 0xff, 0xff, 0xff, 0xff);
/** ServeResponse {items: [HostItem {99: ""}]} with first_seq 1. */
const UNKNOWN_ITEM = Uint8Array.of(0x18, 0x01, 0x2a, 0x03, 0x9a, 0x06, 0x00);

/** Breaks a rule on the stream; the process must leave it, resume and serve. */
const leaves = (name: string, rule: string, attack: (stream: HostStream) => void): Case => ({
  name,
  rule,
  run: async (kit) => {
    const session = await kit.open();
    await echo(session);
    attack(session.stream);
    await session.stream.left("an end of the stream");
    await kit.resume(session);
    await echo(session);
  },
});

export const HOSTILE: Group = {
  name: "hostile",
  cases: [
    leaves("a message that is not protobuf ends the stream, not the process", "P2", (stream) =>
      stream.call.write(GARBAGE),
    ),
    leaves("a jump of the numbers ends the stream, not the process", "Q6", (stream) =>
      stream.write({ firstSeq: 1_000_000n, items: [{ item: { case: "ping", value: {} } }] }),
    ),
    leaves("items with the number 0 end the stream, not the process", "Q6", (stream) =>
      stream.write({ firstSeq: 0n, items: [{ item: { case: "ping", value: {} } }] }),
    ),
    {
      name: "items before Welcome end the stream, not the process",
      rule: "Q1",
      run: async (kit) => {
        const session = await kit.open();
        await echo(session);
        session.stream.call.cut();
        const { stream } = await kit.accept();
        stream.write({ firstSeq: 1n, items: [{ item: { case: "ping", value: {} } }] });
        await stream.left("an end of the stream without Welcome");
        await kit.resume(session);
        await echo(session);
      },
    },
    {
      name: "an item of an unknown kind counts and is ignored",
      rule: "Q8",
      run: async (kit) => {
        const session = await kit.open();
        session.keepBack(undefined);
        session.stream.call.write(UNKNOWN_ITEM);
        await echo(session);
        await session.allHeard();
      },
    },
    {
      name: "answers about unknown invocations are ignored",
      rule: "Q8",
      run: async (kit) => {
        const session = await kit.open();
        const invocationId = "inv-unknown";
        session.send(
          { case: "effectBegun", value: { invocationId, name: "x", state: 1 } },
          { case: "effectCommitted", value: { invocationId, name: "x", state: 3 } },
          { case: "streamed", value: { invocationId, count: 4_000_000_000 } },
          { case: "cancel", value: { invocationId, reason: CancelReason.DRAINED } },
          {
            case: "refused",
            value: { type: "kit.none@1", reason: "TYPE_CONFLICT", message: "no" },
          },
        );
        await echo(session);
      },
    },
    {
      name: "input that is not JSON is a Failure, not the end of the process",
      rule: "P10",
      run: async (kit) => {
        const session = await kit.open();
        await session.item("failure", invoke(session, "kit.typed@1", "{not json"));
        await echo(session);
      },
    },
    {
      name: "a type that is not served is refused for people only; the others are served",
      rule: "H8",
      run: async (kit) => {
        const session = await kit.open();
        session.send({
          case: "refused",
          value: { type: "kit.big@1", reason: "TYPE_CONFLICT", message: "use another version" },
        });
        await pings(session, 1);
        await echo(session);
      },
    },
  ],
};
