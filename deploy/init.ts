// `pawl init <language> [folder]`: writes a project of three files that runs, and prints what to type next. The packages are not on the public
// registries yet, so the project names the package of this clone. It is built for each project, so it is never older than the clone.
//
//   node deploy/init.ts ts|python|go [folder]
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { findGo } from "./go.ts";
import { explain, StartFault } from "./leave-with.ts";
import { packHandler } from "./pack-handler.ts";
import { packPython, PYTHON_ADVICE } from "./pack-python.ts";
import { findPython } from "./python.ts";
import { ROOT } from "./settings.ts";

const TEMPLATES = join(ROOT, "deploy", "init");
const FOLDER = "hello-handlers";

/** A project of a language that can be written. */
interface Plan {
  /** What `{{sdk}}` in the files stands for. */
  readonly sdk: string;
  /** The commands that install it, and the one that starts its process. */
  readonly install: readonly string[];
  readonly start: string;
}

/** By language. @throws StartFault if the tools of the language are missing */
const PLANS: Readonly<Record<string, () => Promise<Plan>>> = {
  async ts() {
    return { sdk: `file:${packHandler()}`, install: ["npm install"], start: "node handlers.ts" };
  },
  async python() {
    const python = await findPython();
    if (python.kind === "missing") throw new StartFault(python.why, PYTHON_ADVICE);
    return {
      sdk: `pawl-sdk @ ${pathToFileURL(await packPython()).href}`,
      install: [`${python.path} -m venv .venv`, ".venv/bin/pip install -r requirements.txt"],
      start: ".venv/bin/python handlers.py",
    };
  },
  async go() {
    const go = findGo();
    if (go.kind === "missing") throw new StartFault("there is no Go for this project", go.why);
    const sdk = JSON.stringify(join(ROOT, "clients", "go"));
    return { sdk, install: [`${go.path} mod tidy`], start: `${go.path} run .` };
  },
};

/** Writes the project; returns what to type next. @throws StartFault with advice; then it has written nothing */
async function writeProject(name: string, folder: string): Promise<string> {
  const planOf = PLANS[name];
  if (planOf === undefined)
    throw new StartFault(
      `there is no project for ${name}`,
      `choose ${Object.keys(PLANS).join(", ")}`,
    );
  const template = join(TEMPLATES, name);
  const files = readdirSync(template);
  const present = files.filter((file) => existsSync(join(folder, file)));
  if (present.length > 0)
    throw new StartFault(
      `${folder} has ${present.join(", ")} already; nothing was written`,
      `choose another folder: pawl init ${name} <folder>`,
    );
  const plan = await planOf();
  mkdirSync(folder, { recursive: true });
  for (const file of files) {
    const text = readFileSync(join(template, file), "utf8").replaceAll("{{sdk}}", () => plan.sdk);
    // A file that appeared meanwhile is not overwritten.
    writeFileSync(join(folder, file), text, { flag: "wx" });
  }
  return nextSteps(plan, folder, files);
}

function nextSteps(plan: Plan, folder: string, files: readonly string[]): string {
  const here = process.env["INIT_CWD"] ?? process.cwd();
  const pawl = relative(folder, join(ROOT, "pawl"));
  const steps = (commands: readonly string[]): string =>
    commands.map((command) => `  ${command}\n`).join("");
  return [
    `${relative(here, folder) || "."} has ${files.join(", ")}.\n\nIn one terminal:\n\n`,
    steps([`cd ${quoted(relative(here, folder) || ".")}`, ...plan.install]),
    steps([`${quoted(pawl)} dev -- ${plan.start}`]),
    "\nIn another terminal, in the same folder:\n\n",
    steps([
      `${quoted(pawl)} workflow apply -f workflow.yaml`,
      `${quoted(pawl)} run start hello-handlers --input '{"name": "Ada"}' --wait`,
    ]),
  ].join("");
}

/** A word of a shell command. */
const quoted = (word: string): string =>
  /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;

if (import.meta.main) {
  const [language = "", folder = FOLDER] = process.argv.slice(2);
  try {
    const where = resolve(process.env["INIT_CWD"] ?? process.cwd(), folder);
    process.stdout.write(await writeProject(language, where));
  } catch (error) {
    explain(error, "The project could not be written");
    process.exitCode = 1;
  }
}
