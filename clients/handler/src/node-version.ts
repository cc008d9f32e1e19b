// Refuses a Node that is too old, before any other module of the package loads. Otherwise the first missing built-in ends the process with a
// message that names no version.

const MAJOR_MIN = 22;

const major = Number(process.version.slice(1).split(".")[0]);
if (major < MAJOR_MIN)
  throw new Error(
    `@pawl/handler needs Node.js ${MAJOR_MIN} or newer, and this is ${process.version}; install a newer one from https://nodejs.org`,
  );
