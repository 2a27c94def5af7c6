/**
 * Runs the state tests and blockchain tests below a folder, as github.com/ethereum/execution-specs publishes them, from berlin to
 * osaka. State tests run in the interpreter, blockchain tests as `import` executes blocks.
 *
 * Run: node dist/test/stateTests.js FOLDER [PART OF A FILE'S PATH]
 */
import {findTests, Tally} from "./support/stateTests/tally.ts";

const SHOWN_FAILURES = 200;

const [folder, part = ""] = process.argv.slice(2);
if (folder === undefined) {
  console.error("expected a folder of tests: node dist/test/stateTests.js FOLDER [PART]");
  process.exitCode = 2;
} else {
  const tally = new Tally();
  for (const file of findTests(folder)) if (file.includes(part)) await tally.run(folder, file);
  for (const failure of tally.failures.slice(0, SHOWN_FAILURES)) console.log(`FAILED ${failure}`);
  console.log(`passed ${tally.passed}, failed ${tally.failures.length}`);
  for (const [reason, count] of tally.skipped) console.log(`  skipped ${count}: ${reason}`);
  process.exitCode = tally.failures.length > 0 || tally.passed === 0 ? 1 : 0;
}
