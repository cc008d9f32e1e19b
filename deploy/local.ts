// `npm start`. It prints a line before it loads the rest of its code, so that a person does not think that it hangs. With a flag that only
// asks for the configuration it starts nothing.
const isAsked = process.argv.some((arg) => /^--(check|print)-config$/.test(arg));
if (!isAsked)
  process.stdout.write(
    "Pawl: starting PostgreSQL, scheduler, executor and gateway on this machine\n",
  );
await import(isAsked ? "./check-start.ts" : "./start-local.ts");
