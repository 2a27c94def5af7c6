/**
 * Runs the state tests and blockchain tests below a folder, as github.com/ethereum/execution-specs publishes them, from berlin to
 * osaka. State tests run in the interpreter, blockchain tests as `import` executes blocks.
 *
 * Run: node dist/test/stateTests.js [--library] FOLDER [PART OF A FILE'S PATH]
 *
 *   --library   state tests run in the library
 */
import {readdirSync, readFileSync} from "node:fs";
import {join} from "node:path";
import {runByInterpreter} from "./support/evm/interpreterTransaction.ts";
import {runByLibrary} from "./support/evm/libraryTransaction.ts";
import {runBlockchainTest} from "./support/stateTests/blockchainTest.ts";
import {runStateTest, type Verdict} from "./support/stateTests/stateTest.ts";
import {isObject} from "./support/stateTests/testForks.ts";

const SHOWN_FAILURES = 200;

class Tally {
  private passed = 0;
  private failed = 0;
  private readonly skipped = new Map<string, number>();

  add(name: string, verdict: Verdict): void {
    if (verdict === undefined) this.passed++;
    else if ("skipped" in verdict)
      this.skipped.set(verdict.skipped, (this.skipped.get(verdict.skipped) ?? 0) + 1);
    else if (++this.failed <= SHOWN_FAILURES) console.log(`FAILED ${name}: ${verdict.failure}`);
  }

  /** @returns the exit code */
  report(): number {
    const reasons = [...this.skipped].sort(([, a], [, b]) => b - a);
    const skipped = reasons.reduce((sum, [, count]) => sum + count, 0);
    console.log(`passed ${this.passed}, failed ${this.failed}, skipped ${skipped}`);
    for (const [reason, count] of reasons) console.log(`  skipped ${count}: ${reason}`);
    return this.failed > 0 || this.passed === 0 ? 1 : 0;
  }
}

async function runFile(path: string, name: string, tally: Tally): Promise<void> {
  let tests: unknown;
  try {
    tests = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    return tally.add(name, {failure: `it is not JSON: ${(error as Error).message}`});
  }
  for (const [title, test] of isObject(tests) ? Object.entries(tests) : []) {
    const full = `${name} ${title}`;
    try {
      if (!isObject(test)) tally.add(full, {skipped: "no test of a state or a chain"});
      else if ("post" in test && "transaction" in test)
        for await (const {name, verdict} of runStateTest(test, execute))
          tally.add(`${full} ${name}`, verdict);
      else if ("blocks" in test) tally.add(full, await runBlockchainTest(test));
      else tally.add(full, {skipped: "no test of a state or a chain"});
    } catch (error) {
      tally.add(full, {failure: `the test cannot be read: ${(error as Error).stack}`});
    }
  }
}

const args = process.argv.slice(2).filter(arg => arg !== "--library");
const [folder, part = ""] = args;
const execute = process.argv.includes("--library") ? runByLibrary : runByInterpreter;
if (folder === undefined) {
  console.error("expected a folder of tests: node dist/test/stateTests.js [--library] FOLDER [PART]");
  process.exitCode = 2;
} else {
  const tally = new Tally();
  const files = readdirSync(folder, {recursive: true, encoding: "utf8"});
  for (const name of files.filter(name => name.endsWith(".json") && name.includes(part)).sort())
    await runFile(join(folder, name), name, tally);
  process.exitCode = tally.report();
}
