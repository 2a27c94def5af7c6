/** Flags of finality: what belongs together, and which flags have no effect. */
import assert from "node:assert/strict";
import {test} from "node:test";
import {SERVE_FLAGS} from "../../../../cli/flags/serveFlags.ts";
import {readServiceOptions} from "../../../../cli/flags/serveOptions.ts";
import type {FinalityOptions} from "../../../../service/serviceOptions.ts";
import {assertUsageError, readFlags} from "../../../support/run/flagReading.ts";

const ADDRESS = `0x${"ab".repeat(20)}`;
const L1 = ["--l1", "http://127.0.0.1:1"];
const L2 = ["--l2", "http://127.0.0.1:2"];

function read(args: readonly string[]): FinalityOptions | undefined {
  return readFlags(SERVE_FLAGS, readServiceOptions, args).finality;
}

test("--l1 alone means its events, and without a source nothing is asked", () => {
  assert.equal(read([...L1, "--rollup", ADDRESS])?.source, "l1");
  assert.equal(read([...L2, "--finality", "tag"])?.source, "tag");
  assert.equal(read(L2), undefined);
});

test("flags that are missing or have no effect are refused", () => {
  for (const [flags, message] of [
    [["--finality", "l1"], /--finality l1 needs --l1/],
    [L1, /--l1 needs --rollup/],
    [[...L1, ...L2, "--finality", "tag"], /--l1 has no effect with --finality tag/],
    [["--finality", "tag"], /--finality tag needs --l2/],
    [["--finality", "manual"], /Allowed choices are l1, tag/],
    [["--rollup", ADDRESS], /--rollup has no effect without --finality or --l1/],
    [[...L2, "--finality", "tag", "--l1-depth", "1"], /--l1-depth has no effect with --finality tag/],
    [[...L1, "--rollup", "0x12"], /Expected an address/],
  ] as const)
    assertUsageError(() => read(flags), message);
});
