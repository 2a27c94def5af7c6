/**
 * A pull with small parts in a process of its own, which a test kills.
 *
 * Run: node pullProcess.js BYTES-OF-A-PART FLAG..
 */
import {pullSmall} from "./smallPull.ts";

const [partBytes, ...flags] = process.argv.slice(2) as [string, ...string[]];
try {
  await pullSmall(flags, Number(partBytes));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
