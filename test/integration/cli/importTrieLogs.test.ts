/** `import --trielogs`: the same store as that of the same chain's blocks, and what is refused. */
import assert from "node:assert/strict";
import {readFile, writeFile} from "node:fs/promises";
import {after, before, test} from "node:test";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";
import {encodeHexLines, encodeJsonLines, type LoggedBlock} from "../../../demo/loggedBlock.ts";
import {logChain} from "../../../demo/loggedChain.ts";
import {SUITE_NAMES} from "../../../storage/hash/suiteNames.ts";
import {toHex} from "../../../storage/hex.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {encodeLines} from "../../support/chains/differenceLine.ts";
import {WorkFolder} from "../../support/chains/serviceChain.ts";
import {logLines} from "../../support/nodes/trieLogLines.ts";
import {runProofd} from "../../support/processes/daemon.ts";

const GENESIS = fileURLToPath(import.meta.resolve("#package/demo/genesis.json"));
const CHAIN = fileURLToPath(import.meta.resolve("#package/demo/chain.rlp"));

/** By then an account was deleted, another was created again, and slots were zeroed. */
const LAST = 46;

let folder: WorkFolder;
let demo: LoggedBlock[];
before(async () => {
  folder = await WorkFolder.create();
  demo = await logChain(await readFile(GENESIS, "utf8"), await readFile(CHAIN), LAST);
});
after(() => folder.remove());

/** State roots by block. */
async function readRoots(directory: string): Promise<string[]> {
  const store = await StateStore.open({directory, role: "owner", cacheBytes: 1 << 20});
  try {
    const latest = (await store.reader.latest()) ?? -1;
    return Array.from({length: latest + 1}, (_, block) => toHex(store.reader.blockOrThrow(block).stateRoot));
  } finally {
    await store.close();
  }
}

for (const suite of SUITE_NAMES)
  test(`${suite}: the demo chain's trie logs give its state roots, with and without the genesis file`, async () => {
    const [executed, begun, whole] = ["executed", "begun", "whole"].map(name =>
      folder.file(`${name}-${suite}`),
    ) as [string, string, string];
    const logs = folder.file("demo.trielogs.gz");
    await writeFile(logs, gzipSync(encodeJsonLines(demo)));
    const blocks = ["--genesis", GENESIS, "--blocks", CHAIN];
    const runs = [
      await runProofd(["import", "--db", executed, "--suite", suite, ...blocks]),
      await runProofd(["import", "--db", begun, "--suite", suite, "--genesis", GENESIS, "--trielogs", logs]),
      await runProofd(["import", "--db", whole, "--suite", suite, "--trielogs", "-", "--finalized", "last"], {
        input: encodeHexLines(demo),
      }),
    ];
    for (const {code, stderr} of runs) assert.equal(code, 0, stderr);
    assert.match(runs[2]?.stdout ?? "", /^imported 47 blocks; blocks 0 to 46 are held, finalized up to 46;/);
    const roots = (await readRoots(executed)).slice(0, LAST + 1);
    assert.equal(roots.length, LAST + 1);
    assert.deepEqual(await readRoots(begun), roots);
    assert.deepEqual(await readRoots(whole), roots);
    const again = await runProofd(["import", "--db", begun, "--trielogs", logs]);
    assert.match(again.stdout, /^imported 0 blocks, 47 already held;/, again.stderr);
  });

const ADDRESS = `0x${"ab".repeat(20)}`;
const hashOf = (number: number): string => `0x${(number + 1).toString(16).padStart(64, "0")}`;
const line = (number: number, balance: string): DifferenceLine => ({
  number: `0x${number.toString(16)}`,
  hash: hashOf(number),
  accounts: {[ADDRESS]: {balance, storage: {"0x1": balance}}},
});

test("a trie log whose old values are not those of the store is refused, and the blocks before it are kept", async () => {
  const db = folder.file("mismatch");
  const held = await runProofd(["import", "--db", db, "--diffs", "-"], {
    input: encodeLines([line(0, "0x5")]),
  });
  assert.equal(held.code, 0, held.stderr);
  const logs = await logLines([line(0, "0x5"), line(1, "0x6"), line(2, "0x7"), line(3, "0x8")]);
  const others = await logLines([line(0, "0x5"), line(1, "0x6"), line(2, "0x9"), line(3, "0x8")]);
  const input = encodeJsonLines([...logs.slice(1, 3), ...others.slice(3)]);
  const refused = await runProofd(["import", "--db", db, "--trielogs", "-"], {input});
  assert.equal(refused.code, 1);
  assert.ok(
    refused.stderr.includes(
      `error: line 3: block 3: account ${ADDRESS}: balance before the block: the source says 0x9, the store has 0x7\n`,
    ),
    refused.stderr,
  );
  assert.match(refused.stderr, /imported 2 blocks; blocks 0 to 2 are held/);
  const right = await runProofd(["import", "--db", db, "--trielogs", "-"], {input: encodeHexLines(logs)});
  assert.match(right.stdout, /^imported 1 blocks, 3 already held; blocks 0 to 3 are held/, right.stderr);
});

test("a line that is no trie log is refused with its number and the reason", async () => {
  const logs = await logLines([line(0, "0x5"), line(1, "0x6"), line(2, "0x7")]);
  const [first, second, third] = logs as [LoggedBlock, LoggedBlock, LoggedBlock];
  const start = encodeHexLines([first]);
  const fields = {blockNumber: 1, blockHash: toHex(second.hash), trieLog: toHex(second.trieLog)};
  const cases: readonly [string, RegExp][] = [
    [encodeHexLines([third]), /line 2: block 2 does not follow: the next block is 1\n/],
    [
      `${toHex(second.trieLog).slice(0, -2)}\n`,
      /line 2: trie log, byte 0: the trie log is longer than what holds it\n/,
    ],
    [
      `${toHex(second.trieLog)}zz\n`,
      /line 2: expected are pairs of hex digits, or an object .*; digit \d+ is wrong\n/,
    ],
    ["{]\n", /line 2: it is not JSON: /],
    [
      JSON.stringify({...fields, blockNumber: 7}),
      /line 2: blockNumber is 7, but the trie log is of block 1\n/,
    ],
    [
      JSON.stringify({...fields, blockNumber: "0x7"}),
      /line 2: blockNumber is 7, but the trie log is of block 1\n/,
    ],
    [
      JSON.stringify({...fields, blockHash: hashOf(8)}),
      /line 2: blockHash is 0x0+9, but the trie log is of 0x0+2\n/,
    ],
    [JSON.stringify({...fields, blockHash: undefined}), /line 2: blockHash is missing; expected is 32 bytes/],
    [JSON.stringify({...fields, trieLog: null}), /line 2: trieLog is null; expected is bytes/],
  ];
  for (const [i, [rest, message]] of cases.entries()) {
    const db = folder.file(`refused-${i}`);
    const refused = await runProofd(["import", "--db", db, "--trielogs", "-"], {input: start + rest});
    assert.equal(refused.code, 1, rest);
    assert.match(refused.stderr, message);
    assert.match(refused.stderr, /blocks 0 to 0 are held/);
  }
});

test("trie logs of another chain than the genesis file's are refused", async () => {
  const input = encodeJsonLines(await logLines([line(0, "0x5")]));
  const args = ["import", "--db", folder.file("other"), "--genesis", GENESIS, "--trielogs", "-"];
  const refused = await runProofd(args, {input});
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /line 1: block 0 of the trie logs is not the genesis file's block\n/);
});
