// A handler process of the flow tests, as a program of its own: it serves the type acme.echo, prints a line for each invocation and
// answers with its config. With the argument `hang` it never answers. With `poison` it serves acme.poison, and an
// input of "poison" kills it.
import { ScriptedProcess } from "../../services/executor/src/host/scripted-process.fixture.ts";

const [address = "", mode = ""] = process.argv.slice(2);
const scripted = new ScriptedProcess(address);
const type = mode === "poison" ? "acme.poison" : "acme.echo";
await scripted.hello({ name: mode === "" ? "answering" : mode, handlers: [{ type }] });
process.stdout.write("serving\n");
for (;;) {
  const { invocationId, configJson } = await scripted.received("invoke");
  process.stdout.write(`invoked ${invocationId}\n`);
  if (mode === "poison" && configJson.includes("poison")) process.kill(process.pid, "SIGKILL");
  if (mode !== "hang")
    scripted.send({ case: "result", value: { invocationId, outputJson: configJson } });
}
