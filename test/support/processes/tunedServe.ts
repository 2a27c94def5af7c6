/** `proofd serve` with limits and times that no flag sets. Run: node tunedServe.js TUNING FLAG.., where TUNING is a Tuning as JSON */
import {runServe} from "../../../cli/commands/serveCommand.ts";
import {readTuned} from "../http/tunedOptions.ts";

const [tuning, ...flags] = process.argv.slice(2);
const {options, logLevel} = await readTuned(flags, JSON.parse(tuning as string));
process.exit(await runServe(options, {logLevel, logFormat: "numbers"}));
