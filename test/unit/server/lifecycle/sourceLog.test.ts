import assert from "node:assert/strict";
import {test} from "node:test";
import {pino} from "pino";
import {SourceLog} from "../../../../server/lifecycle/following/sourceLog.ts";
import {SourceStatus} from "../../../../server/observe/sourceStatus.ts";

test("each block whose trace leaves out slots is logged and counted, with some of its contracts", () => {
  const lines: Record<string, unknown>[] = [];
  const log = pino({}, {write: (line: string) => lines.push(JSON.parse(line))});
  const status = new SourceStatus("l2");
  const sourceLog = new SourceLog(log, status);
  const contracts = Array.from({length: 12}, (_, at) => `0x${at.toString(16).padStart(40, "0")}`);
  for (const block of [7, 9]) sourceLog.note({kind: "incomplete", block, contracts});
  assert.equal(status.incompleteSlices, 2);
  assert.deepEqual(
    lines.map(line => [line.level, line.block, line.contracts]),
    [7, 9].map(block => [40, block, contracts.slice(0, 10)]),
  );
  assert.match(String(lines[0]?.msg), /more slots .* changed than the trace of the block names/);
});
