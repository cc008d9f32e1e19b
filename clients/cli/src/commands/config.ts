// pawl config check, pawl config print: a program of deploy/ asks the services about this environment.

import type { Command } from "commander";
import type { Verb } from "../grammar.ts";
import { EXIT, type ExitCode, type Session, UsageError } from "../session.ts";

const SERVICES = ["gateway", "scheduler", "executor"];

export function configVerbs(config: Command, verb: Verb): void {
  const checks = "Check every variable of this environment, and the files that they name";
  verb(config, "check [service]", checks, ask("check"));
  const prints = "Print every variable with its value and where that is from, without secrets";
  verb(config, "print [service]", prints, ask("print"));
}

const ask =
  (question: "check" | "print") =>
  async (session: Session, service?: string): Promise<ExitCode> => {
    if (service !== undefined && !SERVICES.includes(service))
      throw new UsageError(`there is no service ${service}; choose ${SERVICES.join(", ")}`);
    const json = session.format === "json" ? ["--json"] : [];
    const names = service === undefined ? [] : [service];
    const code = await session.runTool("config", [question, ...json, ...names]);
    return code === 0 ? EXIT.ok : EXIT.failed;
  };
