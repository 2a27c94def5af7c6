/** State and blockchain tests of Ethereum's clients, berlin to osaka: half of the files, in a soak all of them. */
import assert from "node:assert/strict";
import {existsSync} from "node:fs";
import {before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {runChild} from "../../support/processes/childProcesses.ts";
import {notRun} from "../../support/processes/notRun.ts";
import {isSoak, sampleOf} from "../../support/soak.ts";
import {findTests, Tally} from "../../support/stateTests/tally.ts";

const PACKED = fileURLToPath(
  new URL("../shared/data/execution-tests/fixtures.tar.xz", import.meta.resolve("#package/package.json")),
);
const SKIPPED =
  /^(fork|network) (Frontier|Homestead|Byzantium|ConstantinopleFix|Istanbul)$|^the interpreter declines: state$/;

const folder = new WorkFolder();
let lack: string | undefined;

before(async () => {
  lack = await unpack();
});

/** @returns why there are no tests; undefined: `state_tests` and `blockchain_tests` are in the folder */
async function unpack(): Promise<string | undefined> {
  if (!existsSync(PACKED)) return `${PACKED} is absent`;
  const {code, stderr} = await runChild("tar", ["-C", folder.path, "-xf", PACKED]);
  return code === 0 ? undefined : `tar cannot unpack ${PACKED}: ${stderr}`;
}

for (const {title, part, least} of [
  {
    title: "published state tests pass in the interpreter",
    part: "state_tests",
    least: {some: 2180, all: 4490},
  },
  {
    title: "published blockchain tests pass as import executes",
    part: "blockchain_tests",
    least: {some: 70, all: 150},
  },
])
  test(title, async t => {
    if (lack !== undefined) {
      t.diagnostic(`NOT CHECKED against published tests: ${lack}`);
      return notRun(t, lack);
    }
    const tally = new Tally();
    for (const file of sampleOf(findTests(folder.file(part)), 2)) await tally.run(folder.file(part), file);
    t.diagnostic(`passed ${tally.passed}, skipped ${JSON.stringify([...tally.skipped])}`);
    assert.deepEqual(tally.failures, []);
    for (const reason of tally.skipped.keys()) assert.match(reason, SKIPPED);
    assert.ok(tally.passed >= (isSoak() ? least.all : least.some), `${tally.passed} passed`);
  });
