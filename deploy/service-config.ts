// Asks the services for their configuration: each runs with `--check-config` or `--print-config`, connects to nothing and ends. So an answer
// is what a start of the same service would find.
import { execFile } from "node:child_process";
import { type ConfigRow, configTable } from "@pawl/platform/config/command";
import { type Env, faultLine, type VariableFault } from "@pawl/platform/config/env";
import { StartFault } from "./leave-with.ts";
import type { ServiceName } from "./service-process.ts";
import { ROOT } from "./settings.ts";

/** What one part found. `variables` is there if the configuration is right and was to be printed. */
export type Answer = {
  readonly service: string;
  readonly faults: readonly VariableFault[];
  readonly variables?: readonly ConfigRow[];
};

export const SERVICES: readonly ServiceName[] = ["gateway", "scheduler", "executor"];

export type Question = "check" | "print";

/** The answer of one service about this environment. @throws StartFault if the process fails in another way */
export function askService(service: ServiceName, env: Env, question: Question): Promise<Answer> {
  const args = [`services/${service}/src/main.ts`, `--${question}-config`, "--json"];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd: ROOT, env }, (_, stdout, stderr) => {
      try {
        // The service writes this one line; `readConfig` of the platform has its shape.
        resolve(JSON.parse(stdout) as Answer);
      } catch (cause) {
        const why = `the ${service} did not answer about its configuration`;
        reject(new StartFault(why, stderr, { cause }));
      }
    });
  });
}

/** The lines for a person. A fault that several services found is shown once. */
function answerLines(answers: readonly Answer[]): readonly string[] {
  const faults = answers.flatMap(({ service, faults: own }) =>
    own.map((fault) => ({ service, line: faultLine(fault) })),
  );
  if (faults.length > 0) {
    const services = Map.groupBy(faults, ({ line }) => line);
    const lines = [...services].map(
      ([line, places]) => `  ${line} (${places.map(({ service }) => service).join(", ")})`,
    );
    return ["the configuration is wrong:", ...lines];
  }
  return answers.flatMap(({ service, variables }) =>
    variables === undefined
      ? [`${service}: the configuration is right`]
      : ["", service, ...configTable(variables).map((line) => `  ${line}`)],
  );
}

/** Prints the answers and returns the exit code. */
export function printAnswers(answers: readonly Answer[], isJson: boolean): number {
  const isWrong = answers.some(({ faults }) => faults.length > 0);
  const text = isJson ? JSON.stringify({ services: answers }) : answerLines(answers).join("\n");
  (isWrong && !isJson ? process.stderr : process.stdout).write(`${text.replace(/^\n/, "")}\n`);
  return isWrong ? 1 : 0;
}
