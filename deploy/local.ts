// `npm start`. It prints a line before it loads the rest of its code, so that a person does not think that it hangs.
process.stdout.write(
  "Pawl: starting PostgreSQL, scheduler, executor and gateway on this machine\n",
);
await import("./start-local.ts");
