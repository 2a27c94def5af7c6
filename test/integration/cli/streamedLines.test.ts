/** Block differences that a service reads once while it answers: from a file, or from standard input. */
import assert from "node:assert/strict";
import {writeFile} from "node:fs/promises";
import {test} from "node:test";
import {toHex} from "../../../storage/hex.ts";
import {type DifferenceLine, encodeLines} from "../../support/chains/differenceLine.ts";
import {headLines} from "../../support/chains/headedLines.ts";
import {createLine, WorkFolder} from "../../support/chains/serviceChain.ts";
import {
  linesOf,
  readReadiness,
  unverified,
  waitForHead,
  waitForState,
  withFollowing,
} from "../../support/http/followingDaemon.ts";
import {OwnService} from "../../support/http/ownService.ts";
import {ReferenceState} from "../../support/reference/referenceState.ts";
import {memoisedSha256} from "../../support/stores/everyKey.ts";
import {importHere} from "../../support/stores/importedStore.ts";

/** The blocks of createLine are from 2023. */
const ANY_LAG = 999_999_999;

const folder = new WorkFolder();
let count = 0;

/** @returns /readyz once the import of `text` has ended, which is read once */
async function importText(text: string): Promise<string> {
  const path = folder.file(`${count++}.ndjson`);
  await writeFile(path, text);
  const service = await OwnService.start({db: `${path}.db`, diffs: path, allowUnverified: true});
  try {
    await waitForState(service, "ended");
    return (await readReadiness(service, ANY_LAG))[1];
  } finally {
    await service.stop();
  }
}

test("the newest block is verified once a header vouches for it, also for blocks without one before it", async () => {
  const [zero, one, two] = (await headLines([0, 1, 2].map(block => createLine(block, 0)))).lines as [
    DifferenceLine,
    DifferenceLine,
    DifferenceLine,
  ];
  const {header: _header, ...bare} = one;
  const ended = "the source of the import has ended\n";
  assert.equal(await importText(encodeLines([zero, one])), ended);
  assert.equal(await importText(encodeLines([zero, bare])), `${ended}${unverified(1, 1)}`);
  assert.equal(await importText(encodeLines([zero, bare, two])), ended);
});

test("without --allow-unverified a line must have a header's root, or name that of the trees, and the next one vouches for none before it", async () => {
  const {lines} = await headLines([0, 1, 2].map(block => createLine(block, 0)));
  const [zero, one] = lines as [DifferenceLine, DifferenceLine];
  const roots = new ReferenceState(memoisedSha256, lines);
  const {header: _, ...bare} = one;
  const rooted = {...bare, stateRoot: toHex(roots.stateRoot(1))};
  const importStrictly = async (given: readonly DifferenceLine[]) => {
    const path = folder.file(`${count++}.ndjson`);
    await writeFile(path, encodeLines(given));
    return importHere(["--db", `${path}.db`, "--diffs", path]);
  };
  assert.ok((await importStrictly([zero, rooted])).ok);
  for (const [given, message] of [
    [[zero, bare], "line 2: block 1 is unverified: its source gives no header"],
    [[createLine(0, 0)], "line 1: block 0 is unverified: the store does not have the state trie"],
  ] as const) {
    const outcome = await importStrictly(given);
    assert.ok(!outcome.ok && outcome.isFinal);
    assert.equal(outcome.message, `${message}. --allow-unverified takes such blocks, marked as such`);
  }
});

test("lines of a pipe are taken as they come, until it ends", () =>
  withFollowing(folder.file(`${count++}`), async daemon => {
    for (const block of [0, 1, 2]) {
      daemon.input.write(linesOf(block, block));
      await waitForHead(daemon, block);
    }
    assert.deepEqual(await readReadiness(daemon, ANY_LAG), [200, `ready\n${unverified(0, 2)}`]);
    daemon.input.end();
    await waitForState(daemon, "ended");
    assert.deepEqual(await readReadiness(daemon, ANY_LAG), [
      503,
      `the source of the import has ended\n${unverified(0, 2)}`,
    ]);
    assert.match(daemon.stderr, /the import has ended/);
  }));

/** @param body - runs when block 0, which is `line`, is held */
async function serveOne(line: DifferenceLine, body: (daemon: OwnService) => Promise<void>): Promise<void> {
  await withFollowing(folder.file(`${count++}`), async daemon => {
    daemon.input.write(encodeLines([line]));
    await waitForHead(daemon, 0);
    await body(daemon);
  });
}

test("the newest block's age is told; beyond ?lag= it makes the service unready, and without it does not matter", () =>
  serveOne(createLine(0, 0), async daemon => {
    assert.equal(await daemon.readMetric("proofd_head_timestamp_seconds"), 1_700_000_000);
    const lag = await daemon.readMetric("proofd_head_lag_seconds");
    const received = await daemon.readMetric("proofd_block_received_timestamp_seconds");
    assert.ok(lag >= received - 1_700_000_000, `lag ${lag}, received ${received}`);
    const [status, text] = await readReadiness(daemon, 3600);
    assert.equal(status, 503);
    assert.match(
      text,
      /^the newest block, 0, is \d+ s old: asked for at most 3600 s \(state of the source: \w+\)\nunverified: [^\n]+\n$/,
    );
    daemon.input.end();
    await waitForState(daemon, "ended");
    assert.deepEqual(await readReadiness(daemon), [200, `ready\n${unverified(0, 0)}`]);
  }));

test("the age counts from when the block came where its line has no timestamp", () => {
  const {timestamp: _, ...timeless} = createLine(0, 0);
  return serveOne(timeless, async daemon => {
    assert.deepEqual(await readReadiness(daemon, 3600), [200, `ready\n${unverified(0, 0)}`]);
    const {text} = await daemon.get("/metrics");
    assert.doesNotMatch(text, /^proofd_head_timestamp_seconds /m);
    assert.match(text, /^proofd_head_lag_seconds \d/m);
  });
});
