/** Short jobs at the yield points of long ones: each answer has the same bytes as when it is made alone. */
import assert from "node:assert/strict";
import {after, before, test} from "node:test";
import fc from "fast-check";
import {decodeHex} from "../../../client/bytes/hex.ts";
import {word} from "../../../client/hash/hashSuites.ts";
import type {StateReader} from "../../../storage/block/stateReader.ts";
import {StateStore} from "../../../storage/stateStore.ts";
import {accountTree} from "../../../storage/tree/tree.ts";
import {ChangeScope, packChanges} from "../../../workers/messages/changesCall.ts";
import {packCodesHead} from "../../../workers/messages/codesCall.ts";
import type {PackedJob} from "../../../workers/messages/jobMailbox.ts";
import {packLeaves} from "../../../workers/messages/leavesCall.ts";
import {ADDRESS_AT, ProofForm, packedBytes, writeCallHead} from "../../../workers/messages/packedCall.ts";
import {AnswerText} from "../../../workers/prove/answerText.ts";
import {ChangesProver} from "../../../workers/prove/changesProver.ts";
import {MultiProver} from "../../../workers/prove/multiProver.ts";
import {Prover} from "../../../workers/prove/prover.ts";
import {JobYieldPoint, NEVER_YIELDS, type YieldPoint} from "../../../workers/prove/yieldPoint.ts";
import {headLines} from "../../support/chains/headedLines.ts";
import {ABSENT_ACCOUNT, ACCOUNTS, createLines} from "../../support/chains/serviceLines.ts";
import {propertyRuns, sameExamples} from "../../support/soak.ts";
import {importLines} from "../../support/stores/importedStore.ts";
import {proveJob} from "../../support/stores/proveCalls.ts";
import {TemporaryStore} from "../../support/stores/temporaryStore.ts";

const LAST = 36;
/** Holds a few pages: most reads of one job push out what the other has read. */
const CACHE_BYTES = 20_000;

let store: TemporaryStore;
let shared: StateStore;
let reader: StateReader;

before(async () => {
  let directory = "";
  store = await TemporaryStore.made("sha256", async made => {
    directory = made;
    // With headers, the store has Ethereum's tries too.
    await importLines(directory, (await headLines(createLines(0, LAST))).lines);
  });
  shared = await StateStore.open({directory, role: "sharer", cacheBytes: CACHE_BYTES});
  ({reader} = shared);
});

after(async () => {
  await shared.close();
  await store.close();
});

function pack(byteCount: number, write: (calls: Buffer) => unknown): Buffer {
  const calls = Buffer.alloc(byteCount);
  write(calls);
  return calls;
}

/** A call for a proof of these accounts, or one entry of it each. */
function packProof(
  block: number,
  accounts: readonly string[],
  slots: readonly bigint[],
  form: ProofForm,
): Buffer {
  return Buffer.concat(
    accounts.map((account, at) =>
      pack(packedBytes(slots.length), call => {
        writeCallHead(call, 0, block, slots.length, at === 0 ? form : ProofForm.NEXT_ENTRY);
        call.set(decodeHex(account), ADDRESS_AT);
        for (const [slot, key] of slots.entries()) call.set(word(key), packedBytes(slot));
      }),
    ),
  );
}

const block = fc.nat(LAST);
const account = fc.constantFrom(...ACCOUNTS, ABSENT_ACCOUNT);
const tree = fc
  .option(account, {nil: undefined})
  .map(name => (name === undefined ? undefined : decodeHex(name)));
const slots = fc.array(fc.bigInt(0n, 5n), {maxLength: 8});
const count = fc.integer({min: 1, max: 64});

const call: fc.Arbitrary<Buffer> = fc.oneof(
  fc
    .tuple(
      block,
      account,
      slots,
      fc.constantFrom(ProofForm.PLAIN, ProofForm.WITH_BLOCK, ProofForm.NO_EMPTY_STORAGE),
    )
    .map(([at, name, keys, form]) => packProof(at, [name], keys, form)),
  fc
    .tuple(
      block,
      fc.array(account, {minLength: 1, maxLength: 60}),
      slots,
      fc.constantFrom(
        ...[ProofForm.MULTI_BYTES, ProofForm.MULTI_HEX, ProofForm.ETH_MULTI],
        ...[ProofForm.TRIE_MULTI_BYTES, ProofForm.TRIE_MULTI_HEX],
      ),
    )
    .map(([at, names, keys, form]) => packProof(at, names, keys, form)),
  fc
    .tuple(block, tree, fc.nat(50), count, fc.constantFrom(ProofForm.LEAVES_BYTES, ProofForm.LEAVES_HEX))
    .map(([at, address, from, leaves, form]) => packLeaves({block: at, address, from, count: leaves}, form)),
  fc
    .tuple(
      block,
      block,
      tree,
      fc.nat(30),
      count,
      fc.constantFrom(ProofForm.CHANGES_BYTES, ProofForm.CHANGES_HEX),
    )
    .map(([fromBlock, toBlock, address, from, leaves, form]) => {
      const scope = address === undefined ? ChangeScope.ALL : ChangeScope.STORAGE;
      const asked = {fromBlock, toBlock, scope, address, cursor: {account: from, slot: 0}, count: leaves};
      return packChanges(asked, form);
    }),
  fc.nat(3).map(codes => pack(packedBytes(codes + 1), to => packCodesHead(to, 0, codes + 1))),
);
const job: fc.Arbitrary<PackedJob> = fc
  .array(call, {minLength: 1, maxLength: 3})
  .map(calls => ({calls: Buffer.concat(calls), ids: calls.map((_, id) => `${id}`)}));

/** @returns all that a job's answers are */
function answer(prover: Prover, one: PackedJob): unknown {
  const {text, ends, failures} = prover.answer(one);
  prover.takeCounts();
  return [Buffer.from(text).toString("latin1"), [...ends], failures];
}

test("a long job that yields to short ones gives the same bytes as alone, and so do they", () => {
  // Which checks are followed by a break, from the first one on and over again.
  const schedule = fc.array(fc.boolean(), {minLength: 1, maxLength: 20});
  const inputs = [job, fc.array(job, {minLength: 1, maxLength: 4}), schedule] as const;
  let breaks = 0;
  fc.assert(
    fc.property(...inputs, (long, shorts, wanted) => {
      const [alone, ...others] = [long, ...shorts].map(one => answer(new Prover(reader), one));
      const short = new Prover(reader);
      let [checks, taken] = [0, 0];
      const isWanted = () => wanted[checks++ % wanted.length] as boolean;
      const work = () => {
        const at = taken++ % shorts.length;
        assert.deepEqual(answer(short, shorts[at] as PackedJob), others[at]);
      };
      const prover = new Prover(reader, new JobYieldPoint(reader.pages, isWanted, work, 0));
      assert.deepEqual(answer(prover, long), alone);
      breaks += taken;
    }),
    {numRuns: propertyRuns(60), examples: sameExamples(fc.tuple(...inputs), 30)},
  );
  assert.ok(breaks > 300, `${breaks} breaks`);
});

test("an answer that ends after so many reads does not count those of short jobs", () => {
  const limits = {bytes: 100_000, pages: 30};
  const asked = {scope: ChangeScope.ALL, address: undefined, cursor: {account: 0, slot: 0}, count: 4096};
  const changes = packChanges({...asked, fromBlock: 0, toBlock: LAST}, ProofForm.CHANGES_BYTES);
  const [old, young] = [0, LAST].map(at => accountTree(reader, reader.blockOrThrow(at).accounts));
  const write = (breaks: YieldPoint): Buffer => {
    const text = new AnswerText();
    const prover = new ChangesProver(reader, new MultiProver(reader), limits, breaks);
    assert.ok(old !== undefined && young !== undefined);
    prover.write(text, old, young, changes);
    return Buffer.from(text.take());
  };
  const short = new Prover(reader);
  const work = () =>
    answer(short, {calls: packProof(0, ACCOUNTS.slice(0, 9), [1n], ProofForm.MULTI_BYTES), ids: ["1"]});
  const beside = write(new JobYieldPoint(reader.pages, () => true, work, 0));
  assert.ok(beside.equals(write(NEVER_YIELDS)));
});

test("a thread answers short jobs while it works on a long one", async () => {
  // Hundreds of milliseconds.
  const multi = packProof(
    LAST,
    Array.from({length: 300}, (_, at) => ACCOUNTS[at % ACCOUNTS.length] as string),
    [],
    ProofForm.MULTI_BYTES,
  );
  const ids = Array.from({length: 100}, (_, id) => `${id}`);
  let isDone = false;
  const long = proveJob(store.engine, {
    calls: Buffer.concat(ids.map(() => multi)),
    ids,
    isLong: true,
  }).finally(() => {
    isDone = true;
  });
  let answered = 0;
  while (!isDone && answered < 10) {
    const {failures} = await proveJob(store.engine, {
      calls: packProof(LAST, [ABSENT_ACCOUNT], [], ProofForm.PLAIN),
      ids: ["1"],
    });
    assert.deepEqual(failures, []);
    if (!isDone) answered++;
  }
  // The first may have come before the long one began. The others came after each other, while it was there.
  assert.equal(answered, 10);
  assert.deepEqual((await long).failures, []);
});
