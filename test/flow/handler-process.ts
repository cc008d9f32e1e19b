// A handler process of the flow tests, as a program of its own: it serves the type acme.echo, prints a line for each invocation and
// answers with its config. With the argument `hang` it never answers.
import { ScriptedProcess } from "../../services/executor/src/host/scripted-process.fixture.ts";

const [address = "", mode = ""] = process.argv.slice(2);
const scripted = new ScriptedProcess(address);
await scripted.hello({ name: mode === "" ? "answering" : mode });
process.stdout.write("serving\n");
for (;;) {
  const { invocationId, configJson } = await scripted.received("invoke");
  process.stdout.write(`invoked ${invocationId}\n`);
  if (mode !== "hang")
    scripted.send({ case: "result", value: { invocationId, outputJson: configJson } });
}
