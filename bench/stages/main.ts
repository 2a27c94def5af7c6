/** `npm run bench`. What it measures with is loaded when its flags are right. */
import {prepareFile, runProgram} from "../program/benchProgram.ts";
import {readRun} from "./benchRun.ts";
import {createStagesProgram, type StageFlags} from "./options.ts";

await runProgram<StageFlags>(createStagesProgram(), async flags => {
  if (flags.json !== undefined) prepareFile("json", flags.json);
  // Read before minutes are spent on measuring.
  const before = flags.against === undefined ? undefined : readRun(flags.against, flags);
  const {measureStages} = await import("./stagesRun.ts");
  await measureStages(flags, before);
});
