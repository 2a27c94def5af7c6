/** `npm run bench:service`. What it measures with is loaded when its flags are right. */
import {runProgram, writeCommand} from "../program/benchProgram.ts";
import {createServiceProgram, type ServiceFlags} from "./serviceOptions.ts";

const program = createServiceProgram();
await runProgram<ServiceFlags>(program, async flags => {
  const {measureService} = await import("./serviceRun.ts");
  await measureService(flags, writeCommand(program));
});
