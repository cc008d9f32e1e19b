// The tables of variables in docs/reference/configuration.md, from the configuration schemas of the services.
import { variables } from "../env-example.ts";
import { code, table } from "./table.ts";

/** One section for every service. */
export function variableSections(): string {
  return Object.entries(variables())
    .map(([service, lines]) => {
      const rows = lines.map(({ name, description, default: preset }) => [
        code(name),
        defaultOf(name, preset),
        `${description.charAt(0).toUpperCase()}${description.slice(1)}.`,
      ]);
      return `### ${service}\n\n${table(["variable", "default", "meaning"], rows)}`;
    })
    .join("\n\n");
}

function defaultOf(name: string, preset: string | undefined): string {
  if (name === "DATABASE_URL") return "required";
  return preset === undefined || preset === "[]" || preset === "" ? "" : code(preset);
}
