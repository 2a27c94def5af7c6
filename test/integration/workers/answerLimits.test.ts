/** Answers of chain_getLeaves and chain_getChanges end at their limits, and read no more pages than they need. */
import assert from "node:assert/strict";
import {join} from "node:path";
import {test} from "node:test";
import {sha256Suite} from "../../../client/hash/hashSuites.ts";
import {type ChangeRange, verifyChanges} from "../../../client/leaves/changeRange.ts";
import {splitCursor} from "../../../client/leaves/changesReader.ts";
import {verifyLeaves} from "../../../client/leaves/leafRange.ts";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {accountTree} from "../../../storage/tree/tree.ts";
import {ChangeScope, packChanges} from "../../../workers/messages/changesCall.ts";
import {packLeaves} from "../../../workers/messages/leavesCall.ts";
import {ProofForm} from "../../../workers/messages/packedCall.ts";
import {AnswerText} from "../../../workers/prove/answerText.ts";
import type {AnswerLimits} from "../../../workers/prove/changesAnswer.ts";
import {ChangesProver} from "../../../workers/prove/changesProver.ts";
import {LeavesProver} from "../../../workers/prove/leavesProver.ts";
import {MultiProver} from "../../../workers/prove/multiProver.ts";
import type {DifferenceLine} from "../../support/chains/differenceLine.ts";
import {createLines} from "../../support/chains/serviceLines.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {makeTemporaryFolder} from "../../support/temporaryFolder.ts";

const folder = makeTemporaryFolder();

/** Runs `use` with a reader of a store of these blocks. */
async function withReader(
  name: string,
  lines: readonly DifferenceLine[],
  use: (reader: StateReader) => void,
): Promise<void> {
  const directory = join(folder, name);
  await importLines(directory, lines);
  const store = await StateStore.open({directory, role: "owner", cacheBytes: 1 << 20});
  try {
    use(store.reader);
  } finally {
    await store.close();
  }
}

/** One answer of "all", verified, and the pages that were read for it. */
function ask(
  reader: StateReader,
  [fromBlock, toBlock]: readonly [number, number],
  cursor: bigint,
  count: number,
  limits?: AnswerLimits,
): {readonly range: ChangeRange; readonly bytes: number; readonly pages: number} {
  const [from, to] = [reader.blockOrThrow(fromBlock), reader.blockOrThrow(toBlock)];
  const prover = new ChangesProver(reader, new MultiProver(reader), limits);
  const asked = {scope: ChangeScope.ALL, address: undefined, cursor: splitCursor(cursor), count};
  const call = packChanges({...asked, fromBlock, toBlock}, ProofForm.CHANGES_BYTES);
  const text = new AnswerText();
  reader.pages.takeReads();
  prover.write(text, accountTree(reader, from.accounts), accountTree(reader, to.accounts), call);
  const {cachedPages, storedPages} = reader.pages.takeReads();
  const bytes = text.take();
  const roots = {from: from.stateRoot, to: to.stateRoot};
  const range = verifyChanges(sha256Suite, roots, {tree: "all", cursor, count}, bytes);
  return {range, bytes: bytes.length, pages: cachedPages + storedPages};
}

function leavesOf({accounts, storages}: ChangeRange): number {
  return storages.reduce((sum, {slots}) => sum + slots.length, accounts.length);
}

test("ranges of any length put the tree together, each as long as it may be, and with one leaf at least", async () => {
  await withReader("leaves", createLines(0, 4), reader => {
    const block = 4;
    const record = reader.blockOrThrow(block);
    const tree = accountTree(reader, record.accounts);
    const {nextFreeNode} = tree.root;
    const text = new AnswerText();
    for (const limit of [1, 50, 400, 100_000]) {
      const prover = new LeavesProver(reader, new MultiProver(reader), limit);
      const lengths: number[] = [];
      for (let from = 0; from < nextFreeNode; ) {
        const asked = {block, address: undefined, from, count: nextFreeNode};
        const call = packLeaves(asked, ProofForm.LEAVES_BYTES);
        text.clear();
        const {accounts} = prover.write(text, tree, call);
        const request = {tree: "accounts", from, count: nextFreeNode};
        const {end, leaves} = verifyLeaves(sha256Suite, record.stateRoot, request, text.take());
        assert.deepEqual([end, accounts], [from + leaves.length, leaves.length]);
        lengths.push(leaves.length);
        from = end;
      }
      if (limit === 1) assert.equal(lengths.length, nextFreeNode);
      if (limit === 400) assert.ok(lengths.length > 2 && Math.min(...lengths.slice(0, -1)) > 3, `${lengths}`);
      if (limit === 100_000) assert.equal(lengths.length, 1);
    }
  });
});

test("answers of any length make the same changes, each as long as it may be, and with one leaf at least", async () => {
  await withReader("limits", createLines(0, 36), reader => {
    const whole = ask(reader, [0, 36], 0n, 4096);
    assert.equal(whole.range.end, undefined);
    for (const limits of [
      {bytes: 1, pages: 2048},
      {bytes: 100_000, pages: 1},
      {bytes: 2000, pages: 2048},
      {bytes: 100_000, pages: 30},
    ]) {
      const answers: ReturnType<typeof ask>[] = [];
      for (let cursor: bigint | undefined = 0n; cursor !== undefined; cursor = answers.at(-1)?.range.end)
        answers.push(ask(reader, [0, 36], cursor, 4096, limits));
      assert.deepEqual(
        answers.flatMap(({range}) => range.accounts),
        whole.range.accounts,
      );
      assert.equal(
        answers.reduce((sum, {range}) => sum + leavesOf(range), 0),
        leavesOf(whole.range),
      );
      for (const {range, bytes, pages} of answers) {
        assert.ok(leavesOf(range) >= 1);
        // The last leaf, and the nodes beside the way back up.
        if (limits.bytes > 1)
          assert.ok(bytes <= limits.bytes + 1200, `${bytes} bytes, ${limits.bytes} allowed`);
        if (limits.pages > 1)
          assert.ok(pages <= limits.pages + 12, `${pages} pages, ${limits.pages} allowed`);
      }
      const most = Math.min(limits.bytes, limits.pages) === 1 ? leavesOf(whole.range) : 12;
      assert.ok(
        answers.length > 3 && answers.length <= most,
        `${JSON.stringify(limits)}: ${answers.length} answers`,
      );
    }
  });
});

/** @param accounts - of block 0. Block 1 changes the balances of 20 that are far from each other, block 2 those of 5 of these */
function createSparse(accounts: number): DifferenceLine[] {
  const addressOf = (i: number) => `0x${(0x9000_0000 + i * 7919).toString(16).padStart(40, "0")}`;
  const change = (count: number, balance: number) =>
    Object.fromEntries(
      Array.from({length: count}, (_, i) => [
        addressOf(Math.floor((i * accounts) / count)),
        {balance: `0x${balance.toString(16)}`},
      ]),
    );
  return [change(accounts, 1), change(20, 2), change(5, 3), {}].map((changed, i) => ({
    number: `0x${i}`,
    hash: `0x${`${i + 1}`.repeat(64)}`,
    accounts: changed,
  }));
}

test("the pages that are read grow with what changed, and not with the state", async () => {
  const read: {twenty: number; five: number; none: number}[] = [];
  for (const accounts of [400, 3200])
    await withReader(`sparse${accounts}`, createSparse(accounts), reader => {
      const [twenty, five, none] = (
        [
          [0, 1],
          [1, 2],
          [2, 3],
        ] as const
      ).map(blocks => {
        const {range, pages} = ask(reader, blocks, 0n, 4096);
        return {leaves: leavesOf(range), pages};
      }) as [
        {leaves: number; pages: number},
        {leaves: number; pages: number},
        {leaves: number; pages: number},
      ];
      assert.deepEqual([twenty.leaves, five.leaves, none.leaves], [20, 5, 0]);
      read.push({twenty: twenty.pages, five: five.pages, none: none.pages});
    });
  const [small, large] = read as [(typeof read)[number], (typeof read)[number]];
  // Both roots.
  assert.deepEqual([small.none, large.none], [2, 2]);
  // A way down to each leaf in both blocks, of as many pages as the tree has levels: eight times the state has one level more.
  assert.ok(large.twenty <= 2 * 20 * 4 && large.five <= 2 * 5 * 5, JSON.stringify(large));
  assert.ok(large.twenty <= 2 * small.twenty && large.five <= 2 * small.five, JSON.stringify(read));
  assert.ok(small.five < small.twenty / 2, JSON.stringify(small));
});
