// deploy/env.example from the configuration schemas: `npm run env` writes it, docs.test.ts compares.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as executor from "@pawl/executor/config";
import * as gateway from "@pawl/gateway/config";
import { describeVariables } from "@pawl/platform/config/command";
import * as scheduler from "@pawl/scheduler/config";
import { z } from "zod";
import { ROOT } from "./sources.ts";

const SERVICES = { gateway, scheduler, executor };

const HEAD = `# Every variable of every service, with its default. Made from the configuration schemas: npm run env.
# A line that is commented out shows what holds without it; the others must be set.
`;

/** The schema of each service. */
export const SCHEMAS = Object.entries(SERVICES).map(([name, module]) => {
  const schema = Object.values(module).find((value) => value instanceof z.ZodObject);
  if (schema === undefined) throw new Error(`the config of the ${name} exports no schema`);
  return { name, schema };
});

/** The variables of each service. */
export const variables = (): Readonly<Record<string, ReturnType<typeof describeVariables>>> =>
  Object.fromEntries(SCHEMAS.map(({ name, schema }) => [name, describeVariables(schema)]));

/** The whole file. */
export function envExample(): string {
  const sections = Object.entries(variables()).map(([name, lines]) => {
    const entries = lines.map(({ name: variable, description, default: preset }) => {
      const isRequired = variable === "DATABASE_URL";
      // An empty list is an empty variable.
      const absent = preset === undefined || preset === "[]" ? "" : preset;
      const value = isRequired ? "postgres://user:password@host:5432/name" : absent;
      return `# ${description}\n${isRequired ? "" : "# "}${variable}=${value}\n`;
    });
    return `\n## ${name}\n\n${entries.join("\n")}`;
  });
  return HEAD + sections.join("");
}

if (process.argv[1]?.endsWith("env-example.ts")) {
  writeFileSync(join(ROOT, "deploy", "env.example"), envExample());
}
