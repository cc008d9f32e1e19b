// Loaded before a service by `node --import`: its wall clock is off by as many milliseconds as the file STEPPED_CLOCK_FILE says, from
// the start, and again after each SIGUSR2, which it acknowledges on stderr. The monotonic clock and timers stay as they are, as on a
// machine whose clock is set.
import { readFileSync, writeSync } from "node:fs";

const RealDate = Date;
const file = process.env.STEPPED_CLOCK_FILE ?? "";
let offMs = 0;
const read = () => {
  offMs = Number(readFileSync(file, "utf8"));
  writeSync(2, `${JSON.stringify({ msg: "clock stepped", offMs })}\n`);
};
const now = () => RealDate.now() + offMs;
globalThis.Date = new Proxy(RealDate, {
  apply: () => new RealDate(now()).toString(),
  construct: (target, args) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  get: (target, key) => (key === "now" ? now : Reflect.get(target, key)),
});
read();
process.on("SIGUSR2", read);
