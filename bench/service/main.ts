/** `npm run bench:service`. Loads the measuring code only if the flags are valid. */
import {runProgram, writeCommand} from "../program/benchProgram.ts";
import {SERVICE_FLAGS} from "./serviceFlags.ts";

await runProgram(
  "npm run bench:service --",
  "Measures memory, and how one client's load affects others; prints a table.",
  SERVICE_FLAGS,
  async (flags, command) => {
    const {measureService} = await import("./serviceRun.ts");
    await measureService(flags, writeCommand(command));
  },
);
