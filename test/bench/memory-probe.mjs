// Loaded before a service by `node --import`: at each SIGUSR2 it collects all garbage and writes what the process then holds to stderr, as
// one line of JSON. Without the collection a bench measures when V8 collects, and not what the service holds.
import { writeSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc");

process.on("SIGUSR2", () => {
  // The first collection runs finalizers, whose objects the second one frees. This kind also returns empty pages to the system.
  collect({ type: "major", execution: "sync", flavor: "last-resort" });
  setImmediate(() => {
    collect({ type: "major", execution: "sync", flavor: "last-resort" });
    const { rss, heapUsed, external } = process.memoryUsage();
    writeSync(2, `${JSON.stringify({ msg: "memory", rss, heapUsed, external })}\n`);
  });
});
