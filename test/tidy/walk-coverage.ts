// Counts which files of a process run. A process that is started with this file as `--import` writes, at each SIGUSR2, the files in which a
// function ran since the last one. V8 counts calls exactly and starts again at each look.
import { renameSync, writeFileSync } from "node:fs";
import { type Profiler, Session } from "node:inspector";
import { join } from "node:path";

/** Watches this process; each call gives the URLs of the files that ran since the last call. */
export function watchFiles(): () => readonly string[] {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  return () => {
    let scripts: readonly Profiler.ScriptCoverage[] = [];
    // A session of the same thread answers before `post` returns.
    session.post("Profiler.takePreciseCoverage", (error, found) => {
      if (error !== null) throw error;
      scripts = found.result;
    });
    const ran = scripts.filter(({ functions }) =>
      functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
    );
    return ran.map(({ url }) => url);
  };
}

const folder = process.env["WALK_FOLDER"];
if (folder !== undefined) {
  const take = watchFiles();
  process.on("SIGUSR2", () => {
    const file = join(folder, String(process.pid));
    writeFileSync(`${file}.part`, take().join("\n"));
    renameSync(`${file}.part`, file);
  });
}
