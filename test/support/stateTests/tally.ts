/** Files of published tests, and what became of their cases. */
import {readdirSync, readFileSync} from "node:fs";
import {join} from "node:path";
import {runBlockchainTest} from "./blockchainTest.ts";
import {type Execute, runStateTest, type Verdict} from "./stateTest.ts";
import {isObject} from "./testForks.ts";

/** @returns the files below a folder, in the order of their names */
export function findTests(folder: string): string[] {
  const files = readdirSync(folder, {recursive: true, encoding: "utf8"});
  return files.filter(name => name.endsWith(".json")).sort();
}

export class Tally {
  passed = 0;
  readonly failures: string[] = [];
  /** How many cases, by reason. */
  readonly skipped = new Map<string, number>();

  /** @param execute - the transactions of state tests */
  constructor(private readonly execute: Execute) {}

  async run(folder: string, file: string): Promise<void> {
    try {
      const tests: unknown = JSON.parse(readFileSync(join(folder, file), "utf8"));
      for (const [title, test] of isObject(tests) ? Object.entries(tests) : [])
        await this.runTest(`${file} ${title}`, test);
    } catch (error) {
      this.failures.push(`${file}: it cannot be read: ${(error as Error).stack}`);
    }
  }

  private async runTest(name: string, test: unknown): Promise<void> {
    if (isObject(test) && "post" in test && "transaction" in test)
      for await (const one of runStateTest(test, this.execute)) this.add(`${name} ${one.name}`, one.verdict);
    else if (isObject(test) && "blocks" in test) this.add(name, await runBlockchainTest(test));
    else this.add(name, {skipped: "no test of a state or a chain"});
  }

  private add(name: string, verdict: Verdict): void {
    if (verdict === undefined) this.passed++;
    else if ("failure" in verdict) this.failures.push(`${name}: ${verdict.failure}`);
    else this.skipped.set(verdict.skipped, (this.skipped.get(verdict.skipped) ?? 0) + 1);
  }
}
