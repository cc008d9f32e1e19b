// The table of metrics in docs/reference/metrics.md. Labels are types only, so they are read off the catalogue's own text.
import { METRICS } from "@pawl/platform/telemetry/catalogue";
import { isTest, isTypeScript, trackedSources } from "../sources.ts";
import { code, table } from "./table.ts";

const CATALOGUE = "services/platform/src/telemetry/catalogue.ts";
const KINDS: Readonly<Record<string, string>> = {
  counter: "counter",
  gauge: "gauge",
  histogram: "histogram",
  level: "up-down counter",
};

/** Every metric: kind, labels, and the services that report it. */
export function metricTable(): string {
  const sources = trackedSources((path) => path.startsWith("services/") && isTypeScript(path));
  const catalogue = sources.find(({ path }) => path === CATALOGUE)?.text ?? "";
  const rows = Object.entries(METRICS)
    .toSorted(([, one], [, other]) => (one.name < other.name ? -1 : 1))
    .map(([key, { name, description }]) => {
      const declared = new RegExp(`\\b${key}: (\\w+)(?:<([^(]*)>)?\\(`).exec(catalogue);
      if (declared === null) throw new Error(`${CATALOGUE} does not declare ${key} as expected`);
      const [, kind = "", labels = ""] = declared;
      const users = sources.filter(
        ({ path, text }) => !isTest(path) && new RegExp(`\\bMETRICS\\.${key}\\b`).test(text),
      );
      const names = [...new Set(users.map(({ path }) => serviceOf(path)))];
      return [
        code(name),
        KINDS[kind] ?? kind,
        labelsOf(labels, catalogue).map(code).join(", "),
        names.includes("all") ? "all" : names.join(", "),
        `${description}.`,
      ];
    });
  return table(["metric", "kind", "labels", "service", "meaning"], rows);
}

/** The service whose process reports what a file counts. Only schedulers work on the queue; every service uses the other adapters. */
function serviceOf(path: string): string {
  const [, service = ""] = path.split("/");
  if (service !== "platform") return service;
  return path.includes("/queue/") ? "scheduler" : "all";
}

/** The labels of a type argument: an object type, or the name of one that the catalogue declares. */
function labelsOf(type: string, catalogue: string): readonly string[] {
  const alias = new RegExp(`^type ${type} = (.*)$`, "m").exec(catalogue);
  const shape = /^\w+$/.test(type) ? (alias?.[1] ?? "") : type;
  return [...shape.matchAll(/readonly (\w+): string/g)].map(([, label = ""]) => label);
}
