// `pawl config check` and `pawl config print`: the configuration that services started from this environment would have.
//
//   node deploy/config.ts check|print [--json] [service...]
import { parseArgs } from "node:util";
import { explain, StartFault } from "./leave-with.ts";
import { askService, printAnswers, SERVICES } from "./service-config.ts";

const USAGE = `usage: pawl config check|print [${SERVICES.join("|")}]`;

async function run(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { json: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const [question, ...names] = positionals;
  if (question !== "check" && question !== "print") throw new StartFault("check or print?", USAGE);
  const strange = names.find((name) => !SERVICES.some((service) => service === name));
  if (strange !== undefined) throw new StartFault(`there is no service ${strange}`, USAGE);
  const asked = SERVICES.filter((service) => names.length === 0 || names.includes(service));
  const answers = await Promise.all(
    asked.map((service) => askService(service, process.env, question)),
  );
  return printAnswers(answers, values.json);
}

try {
  process.exitCode = await run();
} catch (error) {
  explain(error, "The configuration could not be read");
  process.exitCode = 2;
}
