/** A reporter of node:test: tells the runner how each file of testFiles.ts went, as soon as it has ended. */
import {readEnd, readProcessorSeconds} from "./processorTime.ts";

export interface FileReport {
  readonly file: string;
  /** The sum of its tests' durations. */
  readonly milliseconds: number;
  /** Of the process and of those that it started and that have ended; 0 where the system has no /proc. */
  readonly processorSeconds: number;
  readonly tests: number;
  readonly failed: number;
  /** Titles and reasons. What --test-name-pattern leaves out is not among them. */
  readonly skipped: readonly string[];
}

interface TestEvent {
  readonly type: string;
  readonly data: {
    readonly name: string;
    readonly nesting: number;
    readonly skip?: string | true;
    readonly details: {
      readonly duration_ms: number;
      readonly type?: string;
      readonly error?: {readonly failureType: string};
    };
  };
}

async function* reportFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  let milliseconds = 0;
  let begun = readProcessorSeconds() ?? 0;
  let tests = 0;
  let failed = 0;
  let skipped: string[] = [];
  for await (const {type, data} of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const {name, nesting, skip, details} = data;
    if (nesting > 0 && /does not match pattern/.test(String(skip))) continue;
    if (type === "test:fail" && details.error?.failureType !== "subtestsFailed") failed++;
    if (nesting > 0) {
      if (nesting === 1) milliseconds += details.duration_ms;
      // A suite that is skipped has no tests of its own.
      if (details.type !== "suite" || skip !== undefined) tests++;
      if (skip !== undefined) skipped.push(`${name}: ${skip}`);
      continue;
    }
    const now = readEnd(name) ?? begun;
    const report: FileReport = {
      file: name,
      milliseconds,
      processorSeconds: now - begun,
      tests,
      failed,
      skipped,
    };
    process.send?.(report);
    begun = now;
    milliseconds = 0;
    tests = 0;
    failed = 0;
    skipped = [];
  }
  yield ""; // what people read comes from another reporter
}

// biome-ignore lint/style/noDefaultExport: so node:test finds a reporter
export default reportFiles;
