// How a session begins: what Hello holds, the token, and refusals.

import { Ajv2020 } from "ajv/dist/2020.js";
import type { Hello } from "@pawl/proto/pawl/handler/v1/handler_service_pb";
import { must } from "../broken-rule.ts";
import type { Group } from "../case.ts";
import { echo, SLOTS, TOKEN } from "../kit.ts";

const TYPES = "act big crash echo effect fail log stream stubborn taint typed wait"
  .split(" ")
  .map((name) => `kit.${name}@1`);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

const handlerOf = (hello: Hello, type: string) => {
  const found = hello.handlers.find((handler) => handler.type === type);
  must(
    found !== undefined,
    `the handler ${type} in Hello`,
    hello.handlers.map((h) => h.type),
  );
  return found;
};

export const HELLO: Group = {
  name: "hello",
  cases: [
    {
      name: "Hello is the first message, with a UUID, protocol 1, name, build, SDK and slots",
      rule: "Q1",
      run: async (kit) => {
        const { hello } = await kit.open();
        must(UUID.test(hello.sessionId), "a UUID as session_id", hello.sessionId);
        must(hello.protocol === 1, "protocol 1", hello.protocol);
        const { name, build, slots } = hello;
        must(name === "kit" && build === "kit-build", "name kit, build kit-build", { name, build });
        must(slots === SLOTS, `${SLOTS} slots`, slots);
        must(hello.sdk !== "" && hello.language !== "", "an SDK and a language", hello);
      },
    },
    {
      name: "Hello describes the twelve handlers",
      rule: "Q1",
      run: async (kit) => {
        const { hello } = await kit.open();
        const types = hello.handlers.map(({ type }) => type).toSorted();
        must(types.join() === TYPES.join(), TYPES.join(), types.join());
        const silent = hello.handlers.filter(({ description }) => description === "");
        must(silent.length === 0, "a description of each handler", silent);
        const { stallMs } = handlerOf(hello, "kit.stubborn@1");
        must(stallMs === 600_000n, "stall_ms 600000 of kit.stubborn@1", stallMs);
        const external = hello.handlers.filter((each) => each.external).map(({ type }) => type);
        must(external.join() === "kit.taint@1", "external of kit.taint@1 only", external);
      },
    },
    {
      name: "schemas are JSON Schema 2020-12 that accept and refuse as the types do",
      rule: "P10",
      run: async (kit) => {
        const { hello } = await kit.open();
        const { inputSchema, outputSchema } = handlerOf(hello, "kit.typed@1");
        const ajv = new Ajv2020({ strict: false, validateFormats: false });
        const input = ajv.compile(JSON.parse(inputSchema) as object);
        const output = ajv.compile(JSON.parse(outputSchema) as object);
        must(
          input({ text: "a", count: 1 }),
          "a schema that accepts a text and a count",
          inputSchema,
        );
        for (const bad of [{ text: 1, count: 1 }, { text: "a", count: 0 }, { text: "a" }, "a"])
          must(!input(bad), `a schema that refuses ${JSON.stringify(bad)}`, inputSchema);
        must(output({ text: "a" }) && !output({ text: 1 }), "a schema of the output", outputSchema);
      },
    },
    {
      name: "the token travels as authorization: Bearer",
      rule: "L1",
      run: async (kit) => {
        const { stream } = await kit.accept();
        const { authorization } = stream.call.headers;
        must(authorization === `Bearer ${TOKEN}`, "authorization: Bearer <token>", authorization);
      },
    },
    {
      name: "a refusal before the first Welcome ends the program with an error",
      rule: "P4",
      program: "own",
      run: async (kit) => {
        const { stream } = await kit.accept();
        stream.call.end(UNAUTHENTICATED, "the token is wrong");
        const { code } = await kit.program.exit("an exit of the program");
        must(code !== 0 && code !== null, "an exit code other than 0", code);
        const { stderr } = kit.program;
        must(stderr.includes("the token is wrong"), "the host's words on standard error", stderr);
        must(!stderr.includes(TOKEN), "no token on standard error", stderr);
      },
    },
    {
      name: "a host that is not available is tried again",
      rule: "P2",
      program: "own",
      run: async (kit) => {
        for (let times = 0; times < 2; times += 1) {
          const { stream } = await kit.accept();
          stream.call.end(UNAVAILABLE, "starting");
        }
        await echo(await kit.open());
      },
    },
    {
      name: "a Hello without Welcome is not sent again with the same session_id",
      rule: "P2",
      program: "own",
      run: async (kit) => {
        const { stream, first } = await kit.accept();
        must(first.opening.case === "hello", "hello", first.opening);
        const { sessionId } = first.opening.value;
        stream.call.cut();
        const again = await kit.accept();
        const { opening } = again.first;
        must(
          opening.case !== "hello" || opening.value.sessionId !== sessionId,
          "another session_id, or resume",
          opening,
        );
      },
    },
    {
      name: "after the first Welcome a refusal is one more reason to connect again",
      rule: "P4",
      run: async (kit) => {
        const session = await kit.open();
        await echo(session);
        session.stream.call.end(UNAUTHENTICATED, "the token is wrong");
        await kit.resume(session);
        await echo(session);
      },
    },
  ],
};
